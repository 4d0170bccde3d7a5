"""`mt evaluate`: scores that others can repeat, of what was really held out."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tests.conftest import KNOWN, SENTENCES, Result, toy_pairs, write_jsonl

Mt = Callable[..., Result]
TEST, VALID = KNOWN[::-3], KNOWN[::5]
FIGURE, VERSION = r"(\d+\.\d\d)", r"version:[\d.]+"
INTERVAL, BOOTSTRAP = rf"\(μ = {FIGURE} ± {FIGURE}\)", r"nrefs:1\|bs:1000\|seed:12345\|"
BLEU = (
    rf"BLEU {FIGURE} {INTERVAL}   \({BOOTSTRAP}case:mixed\|eff:no\|tok:13a\|smooth:exp\|{VERSION}\)"
)
CHRF = (
    rf"chrF2 {FIGURE} {INTERVAL}   "
    rf"\({BOOTSTRAP}case:mixed\|eff:yes\|nc:6\|nw:0\|space:no\|{VERSION}\)"
)
TER = (
    rf"TER {FIGURE} {INTERVAL}   "
    rf"\({BOOTSTRAP}case:lc\|tok:tercom\|norm:no\|punct:yes\|asian:no\|{VERSION}\)"
    ", less is better"
)
SCORES = 3  # lines of them, after the first


def sacrebleu(
    *references: Path, hypothesis: Path, options: Sequence[str] = ("-m", "bleu", "chrf", "ter")
) -> dict[str, dict[str, Any]]:
    """What the command that everybody uses makes of files, by the name of the metric."""
    command = [sys.executable, "-m", "sacrebleu", *map(str, references), "-i", str(hypothesis),
               *options, "-w", "10"]  # fmt: skip
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "tokenized period" not in ended.stderr
    results = json.loads(ended.stdout)
    return {r["name"]: r for r in (results if isinstance(results, list) else [results])}


def same_scores(scores: dict[str, Any], expected: dict[str, dict[str, Any]]) -> None:
    """What `mt` found, to the last digit that the command shows, signatures and intervals too."""
    for key, name in (("bleu", "BLEU"), ("chrf", "chrF2"), ("ter", "TER")):
        found = scores[key]
        assert round(found["value"], 10) == expected[name]["score"], name
        assert found["signature"] == expected[name]["signature"]
        if interval := found["confidence"]:
            assert round(interval["mean"], 10) == expected[name]["confidence_mean"]
            assert round(interval["interval"], 10) == expected[name]["confidence_var"]


def scores_in(folder: str | Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(folder) / "scores.json").read_text())
    return found


def write_lines(name: str, lines: list[str]) -> Path:
    Path(name).write_text("".join(f"{line}\n" for line in lines))
    return Path(name)


def test_the_test_split_of_the_model(trained: Path, mt: Mt) -> None:
    result = mt("evaluate")
    assert result.status == 0
    what, bleu, chrf, ter, blank, *more = result.out.splitlines()
    assert (what, blank) == (f"weights/toy, test, {len(TEST)} sentences", "")
    found = re.fullmatch(BLEU, bleu), re.fullmatch(CHRF, chrf), re.fullmatch(TER, ter)
    assert [match and match[1] for match in found] == ["100.00", "100.00", "0.00"]
    assert "length ratio      1.000   (" in more[0]
    assert "unknown words     0.0%   (0 of the source tokens)" in more
    assert any(line.startswith("1-10 words") and " 100.00 " in line for line in more)
    assert "worst, by the chrF2 of a sentence" in more
    overlap, where = result.err.splitlines()
    assert overlap.startswith(
        f"{len(TEST)} of {len(TEST)} source sentences are in the training data too, "
    )
    assert f"{len(TEST)} of them with the same translation" in overlap
    assert where == "src, ref, hyp and scores.json are in weights/toy/evaluation/test"
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
    references = [target for _, target in toy_pairs(40)] + ["vuoto", "niente di questo è noto"]
    references[:10] = [f"ecco: {text.replace('il', 'quel')} — già" for text in references[:10]]
    src, ref = write_lines("my.en", sources), write_lines("my.it", references)
    result = mt("evaluate", "--src", src, "--ref", ref)
    assert result.status == 0
    folder = Path("weights/toy/evaluation/my")
    assert (folder / "ref.it").read_bytes() == ref.read_bytes()
    assert (folder / "src.en").read_bytes() == src.read_bytes()
    options = ("-m", "bleu", "chrf", "ter", "--confidence")
    expected = sacrebleu(ref, hypothesis=folder / "hyp.it", options=options)
    assert 0 < expected["BLEU"]["score"] < 100
    assert expected["BLEU"]["confidence_var"] > 0
    scores = scores_in(folder)
    assert scores["sentences"] == 42
    same_scores(scores, expected)
    assert f"BLEU {expected['BLEU']['score']:.2f} (μ = " in result.out
    assert f"chrF2 {expected['chrF2']['score']:.2f} (μ = " in result.out
    assert f"TER {expected['TER']['score']:.2f} (μ = " in result.out
    again = mt("evaluate", "--hyp", folder / "hyp.it", "--ref", ref)
    assert again.out.splitlines()[1 : SCORES + 1] == result.out.splitlines()[1 : SCORES + 1]


def test_training_evaluate_tensorboard_and_sacrebleu_give_one_number(trained: Path, mt: Mt) -> None:
    """At a checkpoint that knows little, on references that have line breaks in them."""
    write_jsonl(Path("valid.jsonl"), [(s, t.replace(" ", " -\n", 1)) for s, t in KNOWN[:30]])
    settings = ["name=short", "training.epochs=12", "training.validate_every=4 epochs",
                "training.save_every=4 epochs", "training.keep.last=3"]  # fmt: skip
    overrides = [word for setting in settings for word in ("--set", setting)]
    trained_so = mt("train", "--config", "toy.yaml", *overrides)
    assert trained_so.status == 0
    events = EventAccumulator("runs/short")
    events.Reload()
    lines = [json.loads(line) for line in Path("runs/short/metrics.jsonl").read_text().splitlines()]
    then = {line["step"]: line for line in lines if "valid/bleu" in line}
    assert len(then) == 3
    for step, line in then.items():
        result = mt("evaluate", "--model", "short", "--split", "valid", "--output", f"at-{step}",
                    "--checkpoint", f"step-{step:08}", "--confidence-n", "0")  # fmt: skip
        assert result.status == 0
        scores, folder = scores_in(f"at-{step}"), Path(f"at-{step}")
        assert scores["checkpoint"] == f"step-{step:08}"
        assert scores["bleu"]["value"] == line["valid/bleu"]
        assert scores["chrf"]["value"] == line["valid/chrf"]
        same_scores(scores, sacrebleu(folder / "ref.it", hypothesis=folder / "hyp.it"))
        assert f"BLEU {line['valid/bleu']:.2f}   chrF {line['valid/chrf']:.2f}" in trained_so.err
        for name in ("bleu", "chrf"):  # TensorBoard keeps 32 bits
            (drawn,) = [e.value for e in events.Scalars(f"valid/{name}") if e.step == step]
            assert drawn == np.float32(scores[name]["value"])
    values = [line["valid/bleu"] for line in then.values()]
    assert len(set(values)) == 3
    assert 0 < max(values) < 100
    signature = re.search(r"validation BLEU is of 30 sentences, (.*)", trained_so.err)
    assert signature
    assert signature[1] == scores["bleu"]["signature"]


def test_a_checkpoint_that_is_not_there(trained: Path, mt: Mt) -> None:
    result = mt("evaluate", "--checkpoint", "step-00000007")
    assert result.status == 2
    folder = trained / "weights/toy/checkpoints"
    assert result.err.startswith(f"mt: no checkpoint step-00000007 in {folder}; there is best, la")
    last = mt("evaluate", "--checkpoint", "last", "--metric", "chrf", "--json")
    assert json.loads(last.out)["checkpoint"] == Path("weights/toy/last").read_text().strip()
    (folder / Path("weights/toy/last").read_text().strip() / "model.safetensors").write_bytes(b"")
    result = mt("evaluate", "--checkpoint", "last")
    assert result.status == 2
    assert "is damaged; choose another --checkpoint" in result.err
    Path("weights/toy/onnx").mkdir()
    record = {"format": "onnx", "quantization": "float32", "checkpoint": "x", "tokenizers": {}}
    Path("weights/toy/onnx/export.json").write_text(json.dumps(record))
    result = mt("evaluate", "--engine", "onnx", "--checkpoint", "last")
    assert result.status == 2
    assert "--checkpoint is for --engine torch: an export for onnx has one" in result.err


def test_several_references_and_documents(trained: Path, mt: Mt) -> None:
    sources = [source for source, _ in KNOWN[:30]]
    first = [f"ecco {target[4:]}" if i % 3 else target for i, (_, target) in enumerate(KNOWN[:30])]
    second = [target.replace("il", "un").replace("lo", "gli") for _, target in KNOWN[:30]]
    src, one = write_lines("s.en", sources), write_lines("r.it", first)
    two, ids = write_lines("q.it", second), write_lines("ids", [f"d{i // 7}" for i in range(30)])
    result = mt("evaluate", "--src", src, "--ref", one, "--ref", two, "--documents", ids,
                "--output", "out", "--confidence-n", "0")  # fmt: skip
    assert result.status == 0
    assert result.out.startswith("weights/toy, s, 30 sentences, 2 references of each\nBLEU ")
    scores = scores_in("out")
    assert scores["references"] == 2
    assert "nrefs:2|" in scores["bleu"]["signature"]
    out = Path("out")
    same_scores(scores, sacrebleu(out / "ref.it", out / "ref-2.it", hypothesis=out / "hyp.it"))
    assert 0 < scores["bleu"]["value"] < 100
    expected = sacrebleu(
        out / "ref.documents.it", out / "ref-2.documents.it", hypothesis=out / "hyp.documents.it",
        options=("-m", "bleu", "chrf"),
    )  # fmt: skip
    documents = scores["documents"]
    assert round(documents["bleu"]["value"], 10) == expected["BLEU"]["score"]
    assert round(documents["chrf"]["value"], 10) == expected["chrF2"]["score"]
    assert [d["name"] for d in documents["each"]] == ["d0", "d1", "d2", "d3", "d4"]
    assert len((out / "hyp.documents.it").read_text().splitlines()) == 5
    assert f"document BLEU {expected['BLEU']['score']:.2f}" in result.out
    # The same of a split of the model; and documents that are not line for line.
    ids = write_lines("ids", [f"d{i // 7}" for i in range(len(VALID))])
    assert mt("evaluate", "--split", "valid", "--documents", ids).status == 0
    result = mt("evaluate", "--documents", write_lines("ids", ["a", "b"]))
    assert result.status == 2
    assert f"the test split has {len(TEST)} lines, ids has 2 lines: they must be" in result.err
    result = mt("evaluate", "--documents", write_lines("ids", ["a", *[" "] * (len(TEST) - 1)]))
    assert result.status == 2
    assert "ids, lines 2, 3, 4, 5, 6 and 16 more: no document is named" in result.err


def test_everything_as_json(trained: Path, mt: Mt) -> None:
    result = mt("evaluate", "--json", "--metric", "chrf++", "bleu", "--examples", "1")
    printed = json.loads(result.out)
    scores = scores_in("weights/toy/evaluation/test")
    assert scores.pop("files") == ["src.en", "ref.it", "hyp.it"]
    assert printed == scores
    assert [key for key in ("bleu", "chrf", "chrf++", "ter") if key in printed] == [
        "bleu",
        "chrf++",
    ]
    assert "nw:2" in printed["chrf++"]["signature"]
    assert printed["overlap"]["sources"] == printed["overlap"]["pairs"] == len(TEST)
    assert (len(printed["worst"]), len(printed["typical"])) == (1, 1)
    assert (printed["src"], printed["tgt"], printed["model"]) == ("en", "it", "weights/toy")
    assert printed["cut"] == printed["repeated"] == []
    assert printed["seconds"] > 0
    assert printed["tokens_per_second"] > printed["sentences_per_second"] > 0
    assert list(printed["buckets"]) == [
        "by length of the source", "by the rarest source word in training",
    ]  # fmt: skip


@pytest.fixture
def nothing_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is refused, is refused before anything is decoded."""

    def fail(*_: object) -> None:
        raise AssertionError("decoded")

    monkeypatch.setattr("mt.decoding.torch_engine.TorchEngine.search", fail)


@pytest.mark.usefixtures("nothing_decoded")
def test_bad_input_is_refused_before_decoding(trained: Path, mt: Mt) -> None:
    lines = [f"riga {number}" for number in range(9)]
    src = write_lines("a.en", lines)
    blank = write_lines("blank.it", ["x", "", "x", " ", *["\t"] * 5])
    short = write_lines("short.it", lines[1:])
    ref = write_lines("b.it", lines)
    german = write_lines("b.de", lines)
    Path("file").write_text("")
    both = ["--src", src, "--ref", ref]
    cases: list[tuple[list[str | Path], str]] = [
        (["--metric", "bleu", "comet"],
         "--metric comet: no such metric; there are bleu, chrf, chrf++, ter"),
        (["--src", src, "--ref", blank],
         "blank.it, lines 2, 4, 5, 6, 7 and 2 more: the reference is empty; fill the line, or "
         "leave it out of all the files"),
        (["--src", src, "--ref", short],
         "a.en has 9 lines, short.it has 8 lines: they must be line for line"),
        ([*both, "--ref", short], "b.it has 9 lines, short.it has 8 lines: they must be"),
        ([*both, "--pair", "it-en"], "--pair it-en: weights/toy translates en-it; choose another"),
        (["--split", "test", "--pair", "en-de"], "--pair en-de: weights/toy translates en-it; "),
        (["--src", src, "--ref", german],
         "--ref b.de: the name says de, and weights/toy translates en-it; choose another with "
         "--model, or train one (`mt train`); or say --pair en-it if the text is in it"),
        (["--src", ref, "--ref", src], "--src b.it: the name says it, and weights/toy translates "),
        ([*both, "--output", "file"], "/file is a file, not a folder"),
        ([*both, "--hyp", ref, "--model", "toy", "--pair", "en-de"], "--pair en-de: weights/toy "),
        ([*both, "--beam-size", "100000"], "a beam of 100000 (--beam-size"),
        ([*both, "--temperature", "2"], "--temperature needs --sample"),
    ]  # fmt: skip
    for arguments, message in cases:
        result = mt("evaluate", *arguments)
        assert (result.status, result.out) == (2, ""), arguments
        assert message in result.err
    assert not Path("weights/toy/evaluation").exists()


def test_files_in_other_languages_with_the_pair_that_is_meant(trained: Path, mt: Mt) -> None:
    src = write_lines("a.de", [source for source, _ in KNOWN[:4]])
    ref = write_lines("b.txt", [target for _, target in KNOWN[:4]])
    result = mt("evaluate", "--src", src, "--ref", ref, "--pair", "en-it", "--metric", "bleu")
    assert result.status == 0
    assert "BLEU 100.00" in result.out


def test_data_that_is_no_longer_there_is_said_and_the_rest_is_done(trained: Path, mt: Mt) -> None:
    Path("pairs.jsonl").unlink()
    src = write_lines("a.en", [source for source, _ in KNOWN[:4]])
    ref = write_lines("b.it", [target for _, target in KNOWN[:4]])
    result = mt("evaluate", "--src", src, "--ref", ref)
    assert result.status == 0
    assert result.err.startswith(
        "whether the test set overlaps the training data, and how frequent its words are there is "
        "not known: "
    )
    assert "pairs.jsonl" in result.err
    assert scores_in("weights/toy/evaluation/a")["overlap"] is None
    assert "by the rarest source word" not in result.out


def test_options_of_decoding_are_not_ignored_with_given_translations(here: Path, mt: Mt) -> None:
    both = ["--hyp", write_lines("h", ["a"]), "--ref", "h"]
    result = mt("evaluate", *both, "--beam-size", "4", "--sample", "--batch-size", "1")
    assert result.status == 2
    assert result.err == (
        "mt: --batch-size, --beam-size, --sample: with --hyp nothing is translated; leave it out, "
        "or --hyp, to translate\n"
    )
    result = mt("evaluate", *both, "--model", "toy")
    assert (result.status, result.out) == (2, "")
    assert "--model with --hyp needs --src" in result.err
    result = mt("evaluate", *both, "--pair", "en")
    assert result.status == 2
    assert "--pair en: expected two languages, as en-it" in result.err


def test_given_translations_with_source_and_model(trained: Path, mt: Mt) -> None:
    src = write_lines("s.en", [source for source, _ in KNOWN[:20]])
    ref = write_lines("r.it", [target for _, target in KNOWN[:20]])
    hyp = write_lines("h.it", [target for _, target in KNOWN[1:21]])
    given = ["--hyp", hyp, "--src", src, "--ref", ref]
    result = mt("evaluate", *given, "--model", "toy", "--output", "out")
    assert result.status == 0
    assert "20 of 20 source sentences are in the training data too" in result.err
    scores = scores_in("out")
    assert scores["files"] == ["src.en", "ref.it", "hyp.it"]
    assert "by the rarest source word in training" in scores["buckets"]
    assert "search" not in scores
    alone = mt("evaluate", *given)
    assert alone.err == ""
    assert alone.out.splitlines()[: SCORES + 1] == result.out.splitlines()[: SCORES + 1]
    assert "  source       " in alone.out
    chinese = write_lines("z.zh", ["今天天气很好"])
    found = mt("evaluate", "--hyp", chinese, "--ref", chinese)
    assert "tok:zh|" in found.out
    found = mt("evaluate", "--hyp", chinese, "--ref", chinese, "--pair", "zh-ja")
    assert "tok:char|" in found.out


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
    options = ("-m", "bleu", "chrf", "ter", "--confidence")
    files = Path("scores/ref.it"), Path("scores/hyp.it")
    same_scores(scores_in("scores"), sacrebleu(files[0], hypothesis=files[1], options=options))


def test_counts_that_differ_are_refused_with_both(trained: Path, mt: Mt) -> None:
    """One translation against two references must not score 100."""
    one, two = write_lines("h.txt", ["il gatto"]), write_lines("r.txt", ["il gatto", "il cane"])
    result = mt("evaluate", "--hyp", one, "--ref", two)
    assert (result.status, result.out) == (2, "")
    assert "h.txt has 1 lines, r.txt has 2 lines: they must be line for line" in result.err
    result = mt("evaluate", "--src", one, "--ref", two)
    assert (result.status, result.out) == (2, "")
    assert "h.txt has 1 lines, r.txt has 2 lines: they must be line for line" in result.err
    empty = write_lines("e.txt", [])
    result = mt("evaluate", "--hyp", empty, "--ref", empty)
    assert result.status == 2
    assert "nothing to score" in result.err


@pytest.mark.parametrize(
    "arguments",
    [["--src", "x"], ["--ref", "x"], ["--hyp", "x"], ["--src", "x", "--hyp", "x"],
     ["--src", "x", "--ref", "x", "--hyp", "x", "--split", "test"],
     ["--split", "test", "--src", "x", "--ref", "x"],
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
