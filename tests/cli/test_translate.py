"""`mt translate`: what comes out for what is typed, and nothing else on stdout."""

from __future__ import annotations

import socket
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from mt.text.tokenizer import Tokenizer
from tests.cli.translating import CAT, CAT_IT, DOG, DOG_IT, Mt
from tests.conftest import KNOWN, SENTENCES, Result, mt_process


def test_the_translations_and_nothing_else(trained: Path, mt: Mt) -> None:
    assert mt("translate", CAT) == Result(0, CAT_IT + "\n", "")
    assert mt("translate", *SENTENCES) == Result(0, "".join(f"{t}\n" for _, t in KNOWN), "")


def test_a_process_of_its_own_says_the_same(trained: Path) -> None:
    ended = mt_process("translate", CAT, DOG)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert ended.stdout.decode() == f"{CAT_IT}\n{DOG_IT}\n"


@pytest.mark.parametrize(
    "sentence",
    [
        "the\u00a0cat sleeps today.",  # no-break space
        "the\u2009cat\u3000sleeps\u202ftoday.",  # thin, ideographic and narrow spaces
        "  the cat \t sleeps  today.  ",
        "the cat sleeps today.\r",
        "the cat\u2028sleeps\u2029today.",
        "the c\u00adat sleeps\u200b today.\ufeff",  # soft hyphen, zero-width space, BOM
        "the cat\x01sleeps\x7ftoday.",
        "the cat sleeps today .",
    ],
    ids=ascii,
)
def test_odd_spaces_and_characters_that_nobody_sees_change_nothing(
    trained: Path, mt: Mt, sentence: str
) -> None:
    assert mt("translate", sentence) == Result(0, CAT_IT + "\n", "")


def test_a_zero_byte_in_a_file_is_a_space(trained: Path, mt: Mt) -> None:
    Path("in.txt").write_bytes(b"the cat\0sleeps today.\n")
    assert mt("translate", "--input", "in.txt").out == CAT_IT + "\n"


def test_accents_in_either_unicode_form(trained: Path, mt: Mt) -> None:
    """Composed or not, in the source as in the other direction's vocabulary."""
    tokenizer = Tokenizer.load(Path("weights/toy/tokenizer_it.json"))
    for _, sentence in KNOWN:
        apart = unicodedata.normalize("NFD", sentence)
        assert tokenizer.encode(apart) == tokenizer.encode(sentence)
    vocabulary = Path("weights/toy/tokenizer_it.json").read_text("utf-8")
    assert unicodedata.is_normalized("NFC", vocabulary)


@pytest.mark.parametrize("ampersand", ["&", "&amp;", "&#38;", "&#x26;", "&amp;amp;"])
def test_entities_are_the_characters_that_they_stand_for(
    trained: Path, mt: Mt, ampersand: str
) -> None:
    result = mt("translate", f"the cat {ampersand} the dog sleep.")
    assert result == Result(0, "il gatto & il cane dormono.\n", "")


@pytest.mark.parametrize("word", ["[EOS]", "[SOS]", "[PAD]", "[UNK]", "<unk>"])
def test_control_words_that_are_typed_are_text(trained: Path, mt: Mt, word: str) -> None:
    result = mt("translate", f"the cat {word} sleeps today.")
    assert result.status == 0
    assert len(result.out.splitlines()) == 1
    assert not any(control in result.out for control in ("[EOS]", "[SOS]", "[PAD]", "[UNK]"))
    name = word.strip("[]<>")
    assert result.err.startswith("unknown to the model: ")
    assert name in result.err


@pytest.mark.parametrize("sentence", ['"yes."', "yes?!", "(yes).", 'yes!"', "yes,(yes)!?"])
def test_marks_that_touch_are_looked_up_one_by_one(trained: Path, mt: Mt, sentence: str) -> None:
    result = mt("translate", sentence)
    assert result.status == 0
    assert result.out.strip()
    assert "unknown" not in result.err


@pytest.mark.parametrize("sentence", ["THE CAT SLEEPS TODAY.", "The Cat sleeps today."])
def test_words_in_capitals_are_named_as_unknown(trained: Path, mt: Mt, sentence: str) -> None:
    result = mt("translate", sentence)
    strange = [word for word in sentence.rstrip(".").split() if not word.islower()]
    assert result.status == 0
    assert result.err == f"unknown to the model: {', '.join(strange)}\n"


@pytest.mark.parametrize("blank", ["", " ", "\u00a0", "\t", "\u200b", "\u2028"], ids=ascii)
def test_a_blank_sentence_gives_a_blank_line(trained: Path, mt: Mt, blank: str) -> None:
    assert mt("translate", blank) == Result(0, "\n", "")
    assert mt("translate", CAT, blank, DOG).out == f"{CAT_IT}\n\n{DOG_IT}\n"


@pytest.mark.parametrize(
    "sentence", ["42", "0", "-1", "1e-4", "?", "null", "😀", "漢字", "a" * 5000]
)
def test_whatever_it_is_it_is_text_and_needs_no_network(
    trained: Path, mt: Mt, monkeypatch: pytest.MonkeyPatch, sentence: str
) -> None:
    def no_network(*_: object) -> None:
        raise AssertionError("translating asked for the network")

    monkeypatch.setattr(socket.socket, "connect", no_network)
    monkeypatch.setattr(socket, "getaddrinfo", no_network)
    for corpus in Path().glob("*.jsonl"):
        corpus.unlink()
    result = mt("translate", sentence)
    assert result.status == 0
    assert len(result.out.splitlines()) == 1


def test_sentences_that_begin_with_a_dash(trained: Path, mt: Mt) -> None:
    assert mt("translate", "--", "-Yes, I see.").status == 0
    for sentence in ("- Yes.", "— Yes.", "-", "– yes."):
        result = mt("translate", sentence)
        assert (result.status, len(result.out.splitlines())) == (0, 1)
    for arguments in (["-Yes, I see."], ["-Yes"], [CAT, "-Yes"]):
        result = mt("translate", *arguments)
        if result.status == 0:  # a blank tells it from an option
            assert len(result.out.splitlines()) == len(arguments)
            continue
        assert result.status == 2
        assert result.out == ""
        assert "a sentence that begins with a dash goes after --: mt translate -- '-Yes'" in (
            result.err
        )


def test_the_batch_size_changes_nothing(trained: Path, mt: Mt) -> None:
    sentences = [source for source, _ in KNOWN] + ["", "the cat sleeps today and the dog eats here",
                                                   "zzz yyy xxx", "the " * 30, "."]  # fmt: skip
    Path("in.txt").write_text("\n".join(sentences) + "\n")
    outputs = [mt("translate", "--input", "in.txt", "--batch-size", n).out for n in (1, 7, 64)]
    assert outputs[0] == outputs[1] == outputs[2]
    alone = [mt("translate", sentence).out for sentence in sentences[::9]]
    assert "".join(alone) == "".join(f"{line}\n" for line in outputs[0].splitlines()[::9])


def test_twenty_calls_give_one_answer(trained: Path, mt: Mt) -> None:
    """A model that was trained with much dropout: none of it is left when translating."""
    config = Path("weights/toy/config.yaml")
    config.write_text(config.read_text().replace("\n  dropout: 0\n", "\n  dropout: 0.9\n"))
    assert "\n  dropout: 0.9\n" in config.read_text()
    assert {mt("translate", CAT).out for _ in range(20)} == {CAT_IT + "\n"}


def test_too_long_a_line_is_named_with_its_length_and_the_limit(trained: Path, mt: Mt) -> None:
    Path("in.txt").write_text(f"{CAT}\n{'cat ' * 200}\n{DOG}\n")
    result = mt("translate", "--input", "in.txt")
    lines = result.out.splitlines()
    assert (result.status, len(lines), lines[0], lines[2]) == (0, 3, CAT_IT, DOG_IT)
    assert result.err.startswith(
        "line 2: 200 tokens, over the model's limit of 22; translated in 10 parts\n"
    )
    (part,) = mt("translate", "cat " * 20).out.splitlines()
    assert lines[1] == " ".join([part] * 10)


def test_paragraphs_are_translated_sentence_by_sentence(trained: Path, mt: Mt) -> None:
    """Without, the model sees the whole line, and says something else."""
    text = "Hello, world! Why (not)?"
    assert mt("translate", "--paragraphs", text, "", "yes.") == Result(
        0, "Ciao, mondo! Perché (no)?\n\nsì.\n", ""
    )
    long = " ".join([text] * 20)
    result = mt("translate", "--paragraphs", long)
    assert result.out == " ".join(["Ciao, mondo! Perché (no)?"] * 20) + "\n"
    assert mt("translate", long).out == result.out
    assert "translated in 40 parts" in result.err


def test_a_beam_is_not_shorter_than_greedy_search(trained: Path, mt: Mt) -> None:
    Path("in.txt").write_text("".join(f"{source}\n" for source in list(SENTENCES)[:50]))
    greedy, beam = (
        mt("translate", "--input", "in.txt", "--beam-size", size).out.splitlines()
        for size in ("1", "5")
    )
    assert len(greedy) == len(beam) == 50
    assert all(beam)
    assert len(" ".join(beam).split()) >= 0.8 * len(" ".join(greedy).split())


def test_many_notes_are_counted_not_listed(trained: Path, mt: Mt) -> None:
    Path("in.txt").write_text(("cat " * 30 + "\n") * 25 + " ".join(f"w{i}x" for i in range(22)))
    result = mt("translate", "--input", "in.txt")
    assert result.err.count("over the model's limit") == 20
    assert "\nover the limit: 5 more lines\n" in result.err
    assert ", and 2 more\n" in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input", "nope.txt"], "no such file: {here}/nope.txt"),
        (["--input", "weights"], "{here}/weights is a folder, not a file"),
        (["x", "--input", "in.txt"], "give either sentences or --input, not both"),
        (["x", "--output", "no/out.txt"], "--output {here}/no/out.txt: there is no such folder"),
        (["x", "--output", "weights"], "--output {here}/weights is a folder, not a file"),
        (["x", "--device", "gpu"], "--device gpu: expected auto, cpu, cuda, cuda:N or mps"),
        (["x", "--device", "cuda:x"], "--device cuda:x: expected auto, cpu, cuda, cuda:N or mps"),
        (["x", "--device", "cuda:99"], "device cuda:99: there "),
        (["x", "--model", "nope"], "no model nope: there is no {here}/nope and no "
         "{here}/weights/nope; in {here}/weights there is toy"),
    ],
)  # fmt: skip
def test_mistakes_of_the_command_line(
    trained: Path, mt: Mt, names: Callable[[], set[str]], arguments: list[str], message: str
) -> None:
    Path("in.txt").write_text(f"{CAT}\n")
    before = names()
    result = mt("translate", *arguments)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("mt: " + message.format(here=trained))
    assert len(result.err.splitlines()) == 1
    assert names() == before


@pytest.mark.parametrize("number", ["0", "-3", "x", "1.5", ""])
def test_a_batch_size_is_a_whole_number(here: Path, mt: Mt, number: str) -> None:
    result = mt("translate", f"--batch-size={number}", "x")
    assert result.status == 2
    assert f"expected a whole number of 1 or more, not {number}\n" in result.err
