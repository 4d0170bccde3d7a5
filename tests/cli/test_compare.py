"""`mt compare`: models and files side by side; what cannot be compared is refused at once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from mt.cli import compare
from tests.conftest import KNOWN, Result, write_jsonl

Mt = Callable[..., Result]
TEST = KNOWN[::-3]


@pytest.fixture(autouse=True)
def few_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough for differences as large as these."""
    monkeypatch.setattr("mt.evaluation.comparison.SAMPLES", {"bs": 100, "ar": 100})


@pytest.fixture
def untouched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing may be translated."""

    def translate(*_: object) -> None:
        pytest.fail("translated before all was checked")

    monkeypatch.setattr(compare, "_translate", translate)


@pytest.fixture
def two(trained: Path) -> Path:
    """The trained model, and a copy of it with another name."""
    shutil.copytree("weights/toy", "weights/other")
    return trained


def write_lines(name: str, lines: list[str]) -> str:
    Path(name).write_text("".join(f"{line}\n" for line in lines))
    return name


def test_a_model_and_a_file(trained: Path, mt: Mt) -> None:
    assert mt("evaluate").status == 0
    hypotheses = Path("weights/toy/evaluation/test/hyp.it").read_text().splitlines()
    poor = write_lines("poor.it", [f"non {line}" for line in hypotheses])
    result = mt("compare", "toy", poor)
    assert result.status == 0, result.err
    lines = result.out.splitlines()
    assert lines[0] == f"test, {len(TEST)} sentences"
    assert lines[1].endswith("as `mt evaluate` left it in weights/toy/evaluation/test")
    assert lines[2] == "B  poor.it: a file of translations"
    assert "B is worse than A" in result.out
    assert "seed 12345" in result.out
    assert "seed:12345|" in result.out
    assert "where B loses most to A" in result.out
    assert "where B gains most on A" not in result.out  # nowhere
    assert "by the rarest word of the source in training" in result.out
    assert "translating" not in result.err
    told = f"{len(TEST)} of {len(TEST)} source sentences are in the training data too"
    assert result.err.count(told) == 1
    found = json.loads(mt("compare", poor, "toy", "--json", "--metric", "bleu").out)
    assert [d["verdict"] for d in found["differences"]] == ["better"]
    assert found["scores"]["bleu"][1]["value"] == pytest.approx(100)
    assert found["seed"] == 12345
    assert mt("compare", "toy", poor).out == result.out


def test_it_translates_unless_what_is_stored_is_the_same(two: Path, mt: Mt) -> None:
    assert mt("evaluate", "--model", "toy").status == 0
    result = mt("compare", "toy", "weights/other", "--examples", "0")
    assert result.status == 0, result.err
    assert "as `mt evaluate` left it in weights/toy/evaluation/test" in result.out
    assert result.out.splitlines()[2].endswith(", translated now")
    assert "B and A are the same translations" in result.out
    assert f"translating {len(TEST)} sentences with weights/other" in result.err
    place = Path("weights/toy/evaluation/test")
    kept = (place / "scores.json").read_text()
    for change in ({"checkpoint": "step-00000001"}, {"unknown": "ban"}, {"prefix": "Ecco"},
                   {"search": {}}):  # fmt: skip
        (place / "scores.json").write_text(json.dumps({**json.loads(kept), **change}))
        assert "translating" in mt("compare", "toy", str(place / "ref.it")).err, change
    (place / "scores.json").write_text(kept)
    assert "translating" in mt("compare", "toy", str(place / "ref.it"), "--beam-size", "2").err
    (place / "src.en").write_text((place / "src.en").read_text().replace("the", "a", 1))
    assert "translating" in mt("compare", "toy", str(place / "ref.it")).err


def test_files_alone_and_text_of_ones_own(trained: Path, mt: Mt) -> None:
    sources, references = zip(*KNOWN[:12], strict=True)
    src, ref = write_lines("my.en", list(sources)), write_lines("my.it", list(references))
    a, b = write_lines("a", ["ecco"] * 12), write_lines("b", list(references))
    result = mt("compare", a, b, "--ref", ref)
    assert result.status == 0, result.err
    assert "B is better than A" in result.out
    assert "by length of the reference" in result.out
    assert "source  " not in result.out
    assert "    source     " in mt("compare", a, b, "--src", src, "--ref", ref).out
    assert "nrefs:2" in mt("compare", a, b, "--ref", ref, "--ref", b).out
    result = mt("compare", a, "toy", "--src", src, "--ref", ref)
    assert result.out.splitlines()[2].endswith("translated now")


def refused(result: Result, *said: str) -> None:
    assert (result.status, result.out) == (2, "")
    for text in said:
        assert text in result.err
    assert result.err.count("\n") == 1


@pytest.mark.usefixtures("untouched")
def test_what_is_wrong_is_refused_before_anything_is_translated(two: Path, mt: Mt) -> None:
    lines = [target for _, target in TEST]
    short, empty = write_lines("short", lines[1:]), write_lines("none", [])
    gap = write_lines("gap", [*lines[:1], " ", *lines[2:]])
    full = write_lines("full", lines)
    src = write_lines("src", [source for source, _ in TEST])
    n = len(TEST)
    refused(mt("compare", "toy"), "mt: only one system, toy: give two or more")
    refused(mt("compare", "toy", "toy"), "the same system twice: toy (")
    refused(mt("compare", "toy", "weights/toy"), "the same system twice: toy and weights/toy (")
    refused(mt("compare", full, "./full", "--ref", gap), "the same system twice: full and ./full (")
    refused(
        mt("compare", "toy", short),
        f"the test split of toy has {n} lines, short has {n - 1}: they must be line for line",
    )
    refused(mt("compare", full, short, "--ref", src), f"src has {n} lines, short has {n - 1}")
    refused(
        mt("compare", "toy", full, "--src", src, "--ref", short),
        f"short has {n - 1} lines, src has {n}",
    )
    refused(mt("compare", full, src, "--ref", gap), "gap, line 2: the reference is empty; fill")
    refused(mt("compare", empty, full, "--ref", empty), f"none has 0 lines, full has {n}")
    Path("empty").write_text("")
    refused(mt("compare", empty, "empty", "--ref", empty), "nothing to compare: none has 0 lines")
    refused(mt("compare", full, src), "no model among the systems: give --ref FILE")
    refused(mt("compare", "toy", full, "--ref", full), "--ref needs --src, which toy is to transl")
    refused(mt("compare", "toy", full, "--src", src), "--src needs --ref")
    refused(mt("compare", "toy", full, "--split", "test", "--ref", full), "either --split, or")
    refused(mt("compare", "toy", "tov"), "no model tov", "; nor is there a file of that name")
    refused(mt("compare", "toy", "other", "--metric", "blue"), "--metric blue: no such metric")
    refused(mt("compare", "toy", "other", "--top-k", "3"), "--top-k needs --sample")
    refused(mt("compare", *["x"] * 27), "27 systems: give 26 at most")
    shutil.rmtree("weights/other/checkpoints")
    refused(mt("compare", "toy", "other"), f"{two}/weights/other has no checkpoint yet")


@pytest.mark.usefixtures("untouched")
def test_models_of_other_test_sets_or_languages_are_refused(two: Path, mt: Mt) -> None:
    config, data = Path("weights/other/config.yaml"), Path("weights/other/data.json")
    before, report = config.read_text(), data.read_text()
    write_jsonl(Path("test2.jsonl"), [*TEST[1:], ("why not?", "perché no?")])
    config.write_text(before.replace("test: test.jsonl", "test: test2.jsonl"))
    assert config.read_text() != before
    # What the model was trained on says so too, or its data would count as changed.
    from mt.config_file import load_config
    from mt.text.corpus import load_corpus

    def record() -> None:
        splits = load_corpus(load_config(config, []).data).report.as_dict()["splits"]
        data.write_text(json.dumps({**json.loads(report), "splits": splits}))

    record()
    refused(mt("compare", "toy", "other"),
            "not the same test set: ", f" of {len(TEST)} pairs in the test splits of toy and other",
            "give one that all can translate with --src and --ref")  # fmt: skip
    write_jsonl(Path("test2.jsonl"), TEST[1:])
    record()
    n = len(TEST)
    refused(mt("compare", "toy", "other"),
            f"toy has {n} pairs in its test split, other has {n - 1} pairs")  # fmt: skip
    config.write_text(before.replace("src: en", "src: de"))
    refused(mt("compare", "toy", "other"),
            "not the same task: toy translates en-it, other translates de-it")  # fmt: skip
