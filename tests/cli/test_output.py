"""What `mt translate` writes of a translation, and the pictures of where the model looked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mt.cli.notes import Notes
from mt.cli.output import as_dict
from mt.decoding.alternative import Alternative
from mt.decoding.engine import Hypothesis
from mt.decoding.translator import Translation
from tests.conftest import KNOWN, SENTENCES, Result
from tests.decoding.test_translator import make

Mt = Callable[..., Result]
CAT = "the cat sleeps today."
LINES = [CAT, "", "the dog ZEBRA sings well.", " ", "the cat & the dog sleep."]


def objects(result: Result) -> list[dict[str, Any]]:
    assert result.status == 0, result.err
    return [json.loads(line) for line in result.out.splitlines()]


def test_json_has_an_object_for_each_line(trained: Path, mt: Mt) -> None:
    Path("in.txt").write_text("".join(f"{line}\n" for line in LINES))
    plain = mt("translate", "--input", "in.txt").out.split("\n")[:-1]
    found = objects(mt("translate", "--json", "--input", "in.txt"))
    assert [one["source"] for one in found] == LINES
    assert [one["translation"] for one in found] == plain
    cat, blank, zebra = found[:3]
    assert cat["translation"] == SENTENCES[CAT]
    assert cat["source_tokens"] == ["the", "cat", "sleeps", "today", "."]
    assert cat["tokens"] == ["il", "gatto", "dorme", "oggi", ".", "[EOS]"]
    assert [cat[flag] for flag in ("cut", "repeated", "source_too_long")] == [False] * 3
    assert (blank["score"], blank["tokens"], blank["alternatives"]) == (0.0, [], [])
    assert set(blank) == set(cat)
    assert (cat["unknown"], zebra["unknown"]) == ([], ["ZEBRA"])


def test_the_figures_of_json_fit_each_other(trained: Path, mt: Mt) -> None:
    arguments = ["--json", "--beam-size", "3", "--n-best", "3", "--length-penalty", "0.5"]
    for one in objects(mt("translate", *arguments, CAT, "yes.", '"no!"')):
        alternatives = one["alternatives"]
        assert len({alternative["text"] for alternative in alternatives}) == 3
        scores = [alternative["score"] for alternative in alternatives]
        assert scores == sorted(scores, reverse=True)
        assert alternatives[0]["text"] == one["translation"]
        assert all(one[name] == alternatives[0][name] for name in ("score", "tokens", "alignment"))
        for alternative in alternatives:
            gains = alternative["token_log_probabilities"]
            assert len(gains) == len(alternative["tokens"])
            assert sum(gains) == pytest.approx(alternative["log_probability"], abs=1e-5)
            penalty = ((5 + len(gains)) / 6) ** 0.5
            assert alternative["score"] * penalty == pytest.approx(alternative["log_probability"])
            pairs = alternative["alignment"]
            assert [j for _, j in pairs["tokens"]] == list(range(len(gains) - 1))
            assert all(0 <= i < len(one["source_tokens"]) for i, _ in pairs["tokens"])
            assert {j for _, j in pairs["words"]} == set(range(len(alternative["text"].split())))


def test_columns_beside_the_translation(trained: Path, mt: Mt) -> None:
    Path("in.txt").write_text("".join(f"{line}\n" for line in LINES))
    found = objects(mt("translate", "--json", "--input", "in.txt"))
    texts = [one["translation"] for one in found]
    scores = [f"{one['score']:.4f}" for one in found]
    pairs = [" ".join(f"{i}-{j}" for i, j in one["alignment"]["words"]) for one in found]

    def lines(*options: str) -> list[list[str]]:
        result = mt("translate", *options, "--input", "in.txt")
        return [line.split("\t") for line in result.out.split("\n")[:-1]]

    assert lines("--scores") == [list(row) for row in zip(texts, scores, strict=True)]
    assert lines("--alignments") == [list(row) for row in zip(texts, pairs, strict=True)]
    both = [list(row) for row in zip(texts, scores, pairs, strict=True)]
    assert lines("--scores", "--alignments") == both
    assert lines("--alignments", "--scores") == both
    assert {"1-1", "2-2"} <= set(pairs[0].split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--json", "--scores"], "--json has scores and alignments already"),
        (["--json", "--alignments"], "--json has scores and alignments already"),
        (["--n-best", "2", "--beam-size", "2"], "--n-best needs --json"),
        (
            ["--json", "--n-best", "2"],
            "--n-best 2 is more than there are hypotheses (1); add --beam-size 2",
        ),
        (["--alternatives", "2"], "--alternatives needs --json"),
        (["--json", "--alternatives", "9999"], "--alternatives 9999 is more than the "),
        (
            ["--json", "--alternatives", "2", "--n-best", "2"],
            "--alternatives and --n-best are two ways to have several",
        ),
        (["--json", "--alternatives", "2", "--sample"], "--alternatives and --sample are two ways"),
        (["--attention-heads"], "--attention-heads needs --attention FILE.png"),
        (["--attention", "a.svg"], "--attention a.svg: the name must end in .png or .html"),
        (["--attention", "a"], "--attention a: the name must end in .png or .html"),
        (["--attention", "a.html", "--attention-heads"], "--attention-heads is for a .png"),
        (
            ["--attention", "a.png", CAT],
            "--attention draws one sentence, and 2 are given: give one on the command line",
        ),
        (["--attention", "no/a.png"], "no/a.png: there is no such folder"),
        (["--attention", "weights.png"], "weights.png is a folder, not a file"),
    ],
    ids=" ".join,
)
def test_what_does_not_go_together_is_refused(
    trained: Path, mt: Mt, options: list[str], message: str
) -> None:
    Path("weights.png").mkdir()
    result = mt("translate", *options, CAT)
    assert (result.status, result.out) == (2, "")
    assert message in result.err
    assert len(result.err.splitlines()) == 1
    assert not Path("a.png").exists()


@pytest.mark.parametrize("blank", ["", " ", "\u200b"], ids=ascii)
def test_a_blank_sentence_has_no_attention(trained: Path, mt: Mt, blank: str) -> None:
    result = mt("translate", "--attention", "a.png", blank)
    assert (result.status, result.out) == (2, "")
    assert "--attention" in result.err
    assert not Path("a.png").exists()


def test_a_sentence_in_parts_has_no_attention(trained: Path, mt: Mt) -> None:
    two = "Hello, world! Why (not)?"
    result = mt("translate", "--paragraphs", "--attention", "a.png", two)
    assert (result.status, result.out) == (2, "")
    message = "was translated in 2 parts; give one of them alone, as: Hello, world!\n"
    assert result.err == f"mt: --attention: the sentence {message}"
    assert not Path("a.png").exists()
    assert mt("translate", "--attention", "a.png", two).status == 0
    assert mt("translate", "--attention", "a.png", "the cat " * 20).status == 2


@pytest.mark.parametrize("engine", ["ctranslate2", "onnx"])
def test_engines_without_attention_refuse_it_by_name(trained: Path, mt: Mt, engine: str) -> None:
    mt("export", "--format", engine)
    result = mt("translate", "--engine", engine, "--attention", "a.html", CAT)
    assert (result.status, result.out) == (2, "")
    assert f"--engine {engine} does not show the attention" in result.err
    assert not Path("a.html").exists()
    (one,) = objects(mt("translate", "--engine", engine, "--json", CAT))
    assert one["translation"] == SENTENCES[CAT]
    assert len(one["alignment"]["tokens"]) == len(one["tokens"]) - 1


def test_attention_as_an_image(trained: Path, mt: Mt) -> None:
    translation = f"{SENTENCES[CAT]}\n"
    assert mt("translate", "--attention", "mean.png", CAT) == Result(0, translation, "")
    assert mt("translate", "--attention", "heads.PNG", "--attention-heads", CAT).out == translation
    mean, heads = (np.asarray(Image.open(name)) for name in ("mean.png", "heads.PNG"))
    assert mean.shape != heads.shape
    for pixels in (mean, heads):  # paper, ink, and something between
        assert pixels.min() < 60
        assert pixels.max() == 255
        assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 20
    assert sorted(path.name for path in Path().glob(".*")) == []


class Page(HTMLParser):
    """The text and the addresses of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.tags: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [v or "" for k, v in attrs if k in ("src", "href", "action", "data")]


def test_attention_as_a_page_that_needs_nothing_else(trained: Path, mt: Mt) -> None:
    sentence = "the <b>cat</b> & 漢字 sleeps."
    assert mt("translate", "--attention", "a.html", sentence).status == 0
    text = Path("a.html").read_text("utf-8")
    page = Page(text)
    assert page.tags.count("td") == 15 * (page.tags.count("tr") - 1)
    assert page.tags.count("button") == 1 + 1 * 4  # mean, layers by heads
    assert all(address.startswith("data:image/png;base64,") for address in page.addresses)
    assert "http" not in text
    assert "url(" not in text
    assert "prefers-color-scheme: dark" in text
    assert "the &lt;b&gt;cat&lt;/b&gt; &amp; 漢字 sleeps." in text
    shades = [float(shade) for shade in re.findall(r'style="--w:([0-9.]+)"', text)]
    assert max(shades) == 1.0
    assert min(shades) >= 0.0


def test_repetition_is_noted_with_its_line(capfd: pytest.CaptureFixture[str]) -> None:
    from mt.cli.report import start_logging

    start_logging()
    never_ends = make(likes={5: 1e3, 3: -1e6})
    said = never_ends.translate(["the cat", "", "the dog"])
    assert [one.repeated for one in said] == [True, False, True]
    assert as_dict(said[0], never_ends)["repeated"] is True
    notes = Notes(never_ends.source_limit)
    notes.take(said)
    notes.say()
    assert "says the same again and again: line 1, 3\n" in capfd.readouterr().err
    (one,) = never_ends.translate(["the cat the cat the cat the cat the cat"])
    assert not one.repeated  # for its source does so too


def test_a_tab_in_a_translation_is_no_column(monkeypatch: pytest.MonkeyPatch) -> None:
    from argparse import Namespace

    from mt.cli.output import line_format

    options = Namespace(json=False, scores=True, alignments=False)
    line = line_format(options, make())
    hypothesis = Hypothesis([5], -1.0, cut=False, score=-0.5)
    assert line(Translation("x", alternatives=[Alternative("a\tb", hypothesis)])) == "a b\t-0.5000"


def test_all_known_sentences_have_words_that_fit_their_alignments(trained: Path, mt: Mt) -> None:
    for one in objects(mt("translate", "--json", *(source for source, _ in KNOWN))):
        sources, targets = len(one["source"].split()), len(one["translation"].split())
        pairs = one["alignment"]["words"]
        assert all(i < sources and j < targets for i, j in pairs)
        assert {j for _, j in pairs} == set(range(targets))


def split(pairs: list[list[int]], src: int, tgt: int) -> tuple[list[list[int]], list[list[int]]]:
    """The pairs of what is before these places, and those from them on, counted anew."""
    before = [[i, j] for i, j in pairs if i < src and j < tgt]
    after = [[i - src, j - tgt] for i, j in pairs if i >= src and j >= tgt]
    assert len(before) + len(after) == len(pairs)
    return before, after


@pytest.mark.parametrize("engine", ["torch", "ctranslate2", "onnx"])
def test_a_line_in_parts_is_one_object(trained: Path, mt: Mt, engine: str) -> None:
    """Its figures are those of its parts in a row."""
    if engine != "torch":
        assert mt("export", "--format", engine).status == 0
    options = ["--engine", engine, "--json", "--paragraphs"]
    if engine == "torch":
        options += ["--beam-size", "3", "--n-best", "3"]
    one, two = "Hello, world!", "Why (not)?"
    both, first, second = objects(mt("translate", *options, f"{one} {two}", one, two))
    assert (both["parts"], first["parts"]) == ([one, two], [one])
    assert both["translation"] == f"{first['translation']} {second['translation']}"
    assert len(both["alternatives"]) == 1
    assert len(first["alternatives"]) == (3 if engine == "torch" else 1)
    total = first["log_probability"] + second["log_probability"]
    assert both["log_probability"] == pytest.approx(total, abs=1e-5)
    gains = both["token_log_probabilities"]
    assert sum(gains) == pytest.approx(total, abs=1e-5)
    assert both["tokens"] == first["tokens"][:-1] + second["tokens"]
    assert len(gains) == len(both["tokens"])
    length = len(first["tokens"]) + len(second["tokens"])  # the EOS of each part counted
    assert both["score"] * ((5 + length) / 6) ** 0.6 == pytest.approx(total, abs=1e-5)
    assert both["source_tokens"] == first["source_tokens"] + second["source_tokens"]
    tokens = len(first["source_tokens"]), len(first["tokens"]) - 1
    words = len(one.split()), len(first["translation"].split())
    for kind, place in (("tokens", tokens), ("words", words)):
        parts = [first["alignment"][kind], second["alignment"][kind]]
        assert all(parts)
        assert list(split(both["alignment"][kind], *place)) == parts


def test_columns_of_a_line_in_parts(trained: Path, mt: Mt) -> None:
    text = "the cat sleeps today. ZEBRA, " * 12 + "x" * 30
    (one,) = objects(mt("translate", "--json", text))
    assert (one["source_too_long"], len(one["parts"])) == (True, 12 + 1)
    assert set(one["unknown"]) == {"ZEBRA", "x" * 30}
    pairs = " ".join(f"{i}-{j}" for i, j in one["alignment"]["words"])
    result = mt("translate", "--scores", "--alignments", text)
    assert result.out == f"{one['translation']}\t{one['score']:.4f}\t{pairs}\n"
    assert len(one["source_tokens"]) == 12 * 7 + 1
    places = one["alignment"]["words"]
    assert {j for _, j in places} == set(range(len(one["translation"].split())))
    assert max(i for i, _ in places) == len(text.split()) - 1


def test_flags_of_a_line_are_those_of_any_part() -> None:
    never_ends = make(likes={5: 1e3, 3: -1e6})
    never_ends.paragraphs = True
    (one,) = never_ends.translate(["the cat the cat the cat the cat. The dog."])
    assert [part.repeated for part in one.alternatives[0].parts] == [False, True]
    told = as_dict(one, never_ends)
    assert (told["repeated"], told["cut"], told["source_too_long"]) == (True, True, False)
    assert told["tokens"][-1] != "[EOS]"
    assert len(told["token_log_probabilities"]) == len(told["tokens"])
