"""`mt evaluate`: scores that others can repeat, of what was really held out."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import KNOWN, SENTENCES, Result, toy_pairs, write_jsonl

Mt = Callable[..., Result]
TEST, VALID = KNOWN[::-3], KNOWN[::5]
FIGURE, VERSION = r"(\d+\.\d\d)", r"version:[\d.]+"
BLEU = rf"BLEU {FIGURE}   \(nrefs:1\|case:mixed\|eff:no\|tok:13a\|smooth:exp\|{VERSION}\)"
CHRF = rf"chrF2 {FIGURE}   \(nrefs:1\|case:mixed\|eff:yes\|nc:6\|nw:0\|space:no\|{VERSION}\)"


def sacrebleu(reference: Path, hypothesis: Path) -> dict[str, float]:
    """What the command that everybody uses makes of two files."""
    command = [sys.executable, "-m", "sacrebleu", str(reference), "-i", str(hypothesis),
               "-m", "bleu", "chrf", "-w", "10"]  # fmt: skip
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "tokenized period" not in ended.stderr
    return {result["name"]: result["score"] for result in json.loads(ended.stdout)}


def write_lines(name: str, lines: list[str]) -> Path:
    Path(name).write_text("".join(f"{line}\n" for line in lines))
    return Path(name)


def test_the_test_split_of_the_model(trained: Path, mt: Mt) -> None:
    result = mt("evaluate")
    assert result.status == 0
    what, bleu, chrf = result.out.splitlines()
    assert what == f"weights/toy, test, {len(TEST)} sentences"
    found = re.fullmatch(BLEU, bleu), re.fullmatch(CHRF, chrf)
    assert [match and match[1] for match in found] == ["100.00", "100.00"]
    assert result.err == "src, ref, hyp and scores.json are in weights/toy/evaluation/test\n"
    folder = Path("weights/toy/evaluation/test")
    how = json.loads((folder / "scores.json").read_text())
    assert (how["engine"], how["unknown"], how["search"]["beam_size"]) == ("torch", "copy", 1)
    assert sorted(p.name for p in folder.iterdir()) == ["hyp.it", "ref.it", "scores.json", "src.en"]
    # The rows of a split may be in another order than those of its file.
    rows = zip(*(sorted((folder / n).read_text().splitlines()) for n in ("src.en", "ref.it")),
               strict=True)  # fmt: skip
    assert [list(side) for side in zip(*rows, strict=True)] == [
        sorted(s for s, _ in TEST), sorted(t for _, t in TEST)
    ]  # fmt: skip
    assert (folder / "hyp.it").read_text() == (folder / "ref.it").read_text()


def test_another_split(trained: Path, mt: Mt) -> None:
    result = mt("evaluate", "--split", "valid", "--output", "scores")
    assert result.out.startswith(f"weights/toy, valid, {len(VALID)} sentences\nBLEU 100.00")
    assert len(Path("scores/hyp.it").read_text().splitlines()) == len(VALID)
    assert not Path("weights/toy/evaluation").exists()


def test_the_sacrebleu_command_gives_the_same_numbers(trained: Path, mt: Mt) -> None:
    """On files of one's own whose references the model does not quite meet."""
    sources = [source for source, _ in toy_pairs(40)] + ["", "nothing of this is known"]
    references = [target for _, target in toy_pairs(40)] + ["", "niente di questo è noto"]
    references[:10] = [f"ecco: {text.replace('il', 'quel')} — già" for text in references[:10]]
    src, ref = write_lines("my.en", sources), write_lines("my.it", references)
    result = mt("evaluate", "--src", src, "--ref", ref)
    assert result.status == 0
    folder = Path("weights/toy/evaluation/my")
    assert (folder / "ref.it").read_bytes() == ref.read_bytes()
    assert (folder / "src.en").read_bytes() == src.read_bytes()
    expected = sacrebleu(ref, folder / "hyp.it")
    assert 0 < expected["BLEU"] < 100
    scores = json.loads((folder / "scores.json").read_text())
    assert scores["sentences"] == 42
    assert scores["bleu"]["value"] == pytest.approx(expected["BLEU"], abs=1e-6)
    assert scores["chrf"]["value"] == pytest.approx(expected["chrF2"], abs=1e-6)
    assert f"BLEU {expected['BLEU']:.2f}" in result.out
    assert f"chrF2 {expected['chrF2']:.2f}" in result.out
    again = mt("evaluate", "--hyp", folder / "hyp.it", "--ref", ref)
    assert again.out.splitlines()[1:] == result.out.splitlines()[1:]


def test_references_with_line_breaks_in_them_stay_one_line(trained: Path, mt: Mt) -> None:
    rows = [(s, t.replace(" ", "\n", 1)) for s, t in KNOWN[:8]] + [("a b", "c-\nd\r e")]
    write_jsonl(Path("test.jsonl"), rows)
    Path("weights/toy/data.json").unlink()
    # The corpus of the model has changed: a new model, with the same files, is made for it.
    assert mt("train", "--config", "toy.yaml", "--set", "name=breaks",
              "--set", "training.max_steps=1").status == 0  # fmt: skip
    result = mt("evaluate", "--model", "breaks", "--output", "scores")
    assert result.status == 0
    for name in ("src.en", "ref.it", "hyp.it"):
        assert Path("scores", name).read_bytes().count(b"\n") == 9
    assert b"\r" not in Path("scores/ref.it").read_bytes()
    expected = sacrebleu(Path("scores/ref.it"), Path("scores/hyp.it"))
    scores = json.loads(Path("scores/scores.json").read_text())
    assert scores["bleu"]["value"] == pytest.approx(expected["BLEU"], abs=1e-6)
    assert scores["chrf"]["value"] == pytest.approx(expected["chrF2"], abs=1e-6)


def test_counts_that_differ_are_refused_with_both(trained: Path, mt: Mt) -> None:
    """One translation against two references must not score 100."""
    one, two = write_lines("h.txt", ["il gatto"]), write_lines("r.txt", ["il gatto", "il cane"])
    result = mt("evaluate", "--hyp", one, "--ref", two)
    assert (result.status, result.out) == (2, "")
    assert "h.txt has 1 lines, r.txt has 2: they must be line for line" in result.err
    result = mt("evaluate", "--src", one, "--ref", two)
    assert (result.status, result.out) == (2, "")
    assert "h.txt has 1 lines, r.txt has 2: they must be line for line" in result.err
    empty = write_lines("e.txt", [])
    result = mt("evaluate", "--hyp", empty, "--ref", empty)
    assert result.status == 2
    assert "nothing to score" in result.err


@pytest.mark.parametrize(
    "arguments",
    [["--src", "x"], ["--ref", "x"], ["--hyp", "x"], ["--src", "x", "--hyp", "x"],
     ["--src", "x", "--ref", "x", "--hyp", "x"], ["--split", "test", "--src", "x", "--ref", "x"],
     ["--split", "valid", "--hyp", "x", "--ref", "x"]],
    ids=str,
)  # fmt: skip
def test_options_that_do_not_go_together(here: Path, mt: Mt, arguments: list[str]) -> None:
    result = mt("evaluate", *arguments)
    assert result.status == 2
    assert result.err == "mt: give --split, or --src with --ref, or --hyp with --ref\n"


def test_scoring_files_takes_no_model(here: Path, mt: Mt) -> None:
    lines = list(SENTENCES.values())
    result = mt("evaluate", "--hyp", write_lines("h", lines), "--ref", write_lines("r", lines))
    assert result.status == 0
    assert result.out.startswith(f"h, {len(lines)} sentences\nBLEU 100.00")
    missing = mt("evaluate", "--hyp", "h", "--ref", "nope")
    assert missing.status == 2
    assert f"no such file: {here}/nope" in missing.err
    Path("r").write_bytes(b"il\ncaff\xe8\n")
    assert f"{here}/r, line 2: not UTF-8" in mt("evaluate", "--hyp", "h", "--ref", "r").err


def test_an_empty_split_is_said_with_what_to_do(trained: Path, mt: Mt) -> None:
    for changes in ("data.test=null", "data.valid=null"):
        name = changes[5:].partition("=")[0]
        settings = [changes, "data.valid_size=0", f"name=no-{name}", "training.max_steps=1"]
        overrides = [word for setting in settings for word in ("--set", setting)]
        assert mt("train", "--config", "toy.yaml", *overrides).status == 0
    result = mt("evaluate", "--model", "no-test", "--split", "test")
    assert (result.status, result.out) == (2, "")
    assert f"the test split of {trained}/weights/no-test is empty" in result.err
    assert "--split" in result.err
    # Without a test split the validation split is taken, and that is said.
    assert "weights/no-test, valid, " in mt("evaluate", "--model", "no-test").out
    result = mt("evaluate", "--model", "no-valid", "--split", "valid")
    assert f"the valid split of {trained}/weights/no-valid is empty" in result.err


def test_data_that_has_changed_since_is_refused(trained: Path, mt: Mt) -> None:
    write_jsonl(Path("test.jsonl"), TEST[1:])
    result = mt("evaluate")
    assert (result.status, result.out) == (2, "")
    assert f"test: {len(TEST)} pairs then, {len(TEST) - 1} now" in result.err
    Path("test.jsonl").unlink()
    result = mt("evaluate")
    assert result.status == 2
    assert "test.jsonl" in result.err


def test_before_any_training(here: Path, mt: Mt) -> None:
    result = mt("evaluate")
    assert result.status == 2
    assert f"no trained model in {here}/weights; run `mt train" in result.err
    assert list(here.iterdir()) == []
