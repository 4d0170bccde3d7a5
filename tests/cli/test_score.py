"""`mt score`: figures of given translations on stdout, totals on stderr."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import KNOWN, Result

Mt = Callable[..., Result]
PAIRS = [*KNOWN[:6], ("", ""), ("the cat sleeps today.", "il GATTO dorme oggi."), ("yes.", "")]


@pytest.fixture(autouse=True)
def files(trained: Path) -> None:
    Path("a.en").write_text("".join(f"{source}\n" for source, _ in PAIRS), "utf-8")
    Path("a.it").write_text("".join(f"{target}\n" for _, target in PAIRS), "utf-8")


def rows(result: Result) -> list[tuple[float, int, float]]:
    assert result.status == 0, result.err
    cells = [line.split("\t") for line in result.out.splitlines()]
    return [(float(a), int(b), float(c)) for a, b, c in cells]


def test_a_line_for_each_pair_and_the_totals(mt: Mt) -> None:
    result = mt("score", "--src", "a.en", "--tgt", "a.it")
    found = rows(result)
    assert len(found) == len(PAIRS)
    assert found[6] == (0.0, 0, 1.0)
    assert found[8][1] == 1  # the end alone
    for total, tokens, perplexity in found:
        assert perplexity == pytest.approx(math.exp(-total / max(1, tokens)), rel=1e-3)
    assert all(total > -2 for total, _, _ in found[:6])  # what the model knows by heart
    assert all(total < -2 for total, _, _ in found[7:])  # and what it does not
    total, tokens = sum(row[0] for row in found), sum(row[1] for row in found)
    unknown, last = result.err.splitlines()
    assert unknown == (
        "unknown to the model, and scored as [UNK], 1 of the words of the translations: GATTO"
    )
    assert last == (
        f"9 pairs, {tokens} tokens: log-probability {total:.4f}, "
        f"perplexity {math.exp(-total / tokens):.4f}"
    )


def test_its_own_translations_have_the_score_that_translating_told(mt: Mt) -> None:
    result = mt("translate", "--json", "--input", "a.en")
    told = [json.loads(line) for line in result.out.splitlines()]
    Path("own.it").write_text("".join(f"{one['translation']}\n" for one in told), "utf-8")
    found = mt("score", "--json", "--src", "a.en", "--tgt", "own.it", "--batch-size", "2")
    for before, line in zip(told, found.out.splitlines(), strict=True):
        after = json.loads(line)
        assert after["tokens"] == before["tokens"]
        assert after["log_probability"] == pytest.approx(before["log_probability"], abs=1e-4)
        assert after["token_log_probabilities"] == pytest.approx(
            before["token_log_probabilities"], abs=1e-4
        )
        assert (after["source"], after["target"]) == (before["source"], before["translation"])
    assert json.loads(found.out.splitlines()[0])["perplexity"] < 1.5


def test_lists_keep_their_lines_and_their_order(mt: Mt) -> None:
    lists = [
        "0 ||| il gatto ||| f1=0 f2=1 ||| -3.5",
        f"3 ||| {PAIRS[3][1]} ",
        f"0 ||| {PAIRS[0][1]} ||| f1=0 ||| -1",
    ]
    Path("n.txt").write_text("\n".join(lists), "utf-8")
    result = mt("score", "--src", "a.en", "--n-best", "n.txt")
    expected = rows(mt("score", "--src", "a.en", "--tgt", "a.it"))
    out = result.out.splitlines()
    assert [line.rpartition(" ||| ")[0] for line in out] == lists
    scores = [float(line.rpartition(" ||| ")[2]) for line in out]
    assert scores[1:] == pytest.approx([expected[3][0], expected[0][0]], abs=1e-5)
    assert scores[0] < scores[2]
    assert result.err.startswith("3 pairs, ")
    objects = mt("score", "--json", "--src", "a.en", "--n-best", "n.txt").out.splitlines()
    assert [json.loads(line)["id"] for line in objects] == [0, 3, 0]


def test_a_source_that_is_too_long_is_noted(mt: Mt) -> None:
    Path("long.en").write_text("the cat.\n" + "the " * 40 + "\n")
    Path("long.it").write_text("il gatto.\nil\n")
    result = mt("score", "--src", "long.en", "--tgt", "long.it")
    assert len(rows(result)) == 2
    assert "over the model's limit of 22 tokens, and its beginning alone was read: line 2\n" in (
        result.err
    )


def test_ctranslate2_scores_as_torch_does_and_onnx_refuses(mt: Mt) -> None:
    expected = rows(mt("score", "--src", "a.en", "--tgt", "a.it"))
    for engine in ("ctranslate2", "onnx"):
        assert mt("export", "--format", engine).status == 0
    options = ("--model", "toy", "--src", "a.en", "--tgt", "a.it", "--engine")
    found = rows(mt("score", *options, "ctranslate2"))
    for before, after in zip(expected, found, strict=True):
        assert after == pytest.approx(before, rel=1e-3, abs=1e-3)
    result = mt("score", *options, "onnx")
    assert (result.status, result.out) == (2, "")
    assert "--engine onnx does not score translations; choose --engine torch" in result.err


@pytest.mark.parametrize("which", ["--tgt", "--n-best"])
def test_nothing_to_score_is_a_mistake(mt: Mt, which: str) -> None:
    for name in ("empty", "none"):
        Path(name).touch()
    result = mt("score", "--src", "empty", which, "none")
    assert result == (2, "", "mt: nothing to score: empty is empty\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("il gatto\n", "n.txt, line 1: expected ID ||| TEXT"),
        ("0 ||| il\nx ||| il\n", "n.txt, line 2: expected ID ||| TEXT"),
        ("0 ||| il\n\n", "n.txt, line 2: expected ID ||| TEXT"),
        ("0 ||| il\n9 ||| il\n", "n.txt, line 2: source 9, and there are 9, counted from 0"),
    ],
)
def test_lists_that_cannot_be_read_are_refused(mt: Mt, content: str, message: str) -> None:
    Path("n.txt").write_text(content)
    result = mt("score", "--src", "a.en", "--n-best", "n.txt")
    assert (result.status, result.out) == (2, "")
    assert message in result.err
    assert len(result.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--src", "a.en", "--tgt", "short.it"], "a.en has 9 lines, short.it has 1: they must be"),
        (["--src", "no.en", "--tgt", "a.it"], "no such file: "),
        (["--src", "a.en", "--tgt", "weights"], "weights is a folder, not a file"),
        (["--src", "a.en", "--tgt", "latin.it"], "latin.it, line 1: not UTF-8"),
        (["--src", "a.en"], "one of the arguments --tgt --n-best is required"),
        (["--tgt", "a.it"], "required: --src"),
        (["--src", "a.en", "--tgt", "a.it", "--n-best", "n"], "not allowed with argument --tgt"),
        (["--src", "a.en", "--tgt", "a.it", "--model", "none"], "none"),
        (["--src", "a.en", "--tgt", "a.it", "--device", "abacus"], "--device abacus: expected"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_one_message(mt: Mt, arguments: list[str], message: str) -> None:
    Path("short.it").write_text("il\n")
    Path("latin.it").write_bytes("è\n".encode("latin1"))
    result = mt("score", *arguments)
    assert (result.status, result.out) == (2, "")
    assert message in result.err
