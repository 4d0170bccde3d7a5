"""`mt translate`: what comes out for what goes in, line for line, and nothing else on stdout."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from mt.storage.checkpoint import read_part, read_state, write_checkpoint
from mt.storage.model_folder import ModelFolder
from mt.text.tokenizer import EOS_ID, Tokenizer
from tests.cli import processes
from tests.conftest import KNOWN, SENTENCES, Result, mt_process

Mt = Callable[..., Result]
CAT, DOG = "the cat sleeps today.", "the dog sings well."
CAT_IT, DOG_IT = SENTENCES[CAT], SENTENCES[DOG]


class Bomb:
    def __reduce__(self) -> Any:
        return os.system, ("touch PWNED",)


def change_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], None]) -> None:
    """Rewrites every checkpoint of the model, checksums and all."""
    for path in sorted((folder / "checkpoints").iterdir()):
        state = read_state(path)
        parts = {stem: read_part(path, stem) for stem in ("model", "optimizer")}
        change(parts["model"])
        state.pop("files")
        write_checkpoint(path.parent, state["progress"]["step"], parts, state)


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


def test_line_for_line_with_blank_lines(trained: Path, mt: Mt) -> None:
    Path("in.txt").write_text(f"{CAT}\n\n{DOG}\n \n\n{CAT}\n")
    result = mt("translate", "--input", "in.txt", "--output", "out.txt")
    assert result == Result(0, "", "")
    assert Path("out.txt").read_bytes().decode() == f"{CAT_IT}\n\n{DOG_IT}\n\n\n{CAT_IT}\n"
    assert mt("translate", "--input", "in.txt").out == Path("out.txt").read_text()


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"yes.\n\n", ["s\xec.", ""]),
        (b"yes.", ["s\xec."]),  # no line end at the end of the file
        (b"yes.\r\n\r\nyes.\r\n", ["s\xec.", "", "s\xec."]),
        (b"\xef\xbb\xbfyes.\nyes.\n", ["s\xec.", "s\xec."]),
        ("yes.\u2028\nyes.\x0byes.\x0c\nyes.\x85\n".encode(), None),
        ("\u2028\n\u2029\x1e\n".encode(), ["", ""]),
    ],
    ids=ascii,
)
def test_only_line_feeds_end_lines(
    trained: Path, mt: Mt, content: bytes, lines: list[str] | None
) -> None:
    Path("in.txt").write_bytes(content)
    result = mt("translate", "--input", "in.txt", "--output", "out.txt")
    assert (result.status, result.out) == (0, "")
    written = Path("out.txt").read_bytes()
    assert b"\r" not in written
    found = written.decode().split("\n")
    assert found.pop() == ""
    if lines is None:
        assert len(found) == content.count(b"\n")
        assert all(len(line.splitlines()) == 1 for line in found)
    else:
        assert found == lines


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
    config.write_text(config.read_text().replace("  dropout: 0.0", "  dropout: 0.9"))
    assert "\n  dropout: 0.9" in config.read_text()
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


def test_line_for_line_on_anything(trained: Path, mt: Mt) -> None:
    odd = [
        "", " ", "word " * 10_000, "zzz yyy xxx", "\x01\x02\x7f", "\x00", "漢字かな交じり文" * 50,
        "Привет, мир!", "مرحبا بالعالم", "สวัสดีชาวโลก" * 30, "42", "-Yes", "--help", "[EOS]",
        "<unk>", "\ufeff", "\u2028", "\r", "a\rb", "…" * 200, "!" * 500, "x" * 5000,
        "e\u0301" * 300, "&amp;" * 99, "😀👩\u200d👧" * 60, "\u200b", "\ufffd",
        "a.b.c." * 100, CAT * 30,
    ]  # fmt: skip
    Path("in.txt").write_text("".join(f"{line}\n{CAT}\n" for line in odd), newline="\n")
    result = mt("translate", "--input", "in.txt")
    assert result.status == 0
    lines = result.out.split("\n")
    assert lines.pop() == ""
    assert len(lines) == 2 * len(odd)
    assert lines[1::2] == [CAT_IT] * len(odd)
    assert all(len(f"x{line}x".splitlines()) == 1 for line in lines)
    assert "line 5: 10000 tokens, over the model's limit of 22; translated in 455 parts" in (
        result.err
    )


def test_bytes_that_are_not_utf8_may_be_replaced(
    trained: Path, mt: Mt, stdin: Callable[[bytes], None]
) -> None:
    content = f"{CAT}\n".encode() + b"caff\xe8\n\xed\xa0\xbd\n" + f"{DOG}\n".encode()
    Path("in.txt").write_bytes(content)
    result = mt("translate", "--input", "in.txt", "--errors", "replace", "--output", "out.txt")
    assert result.status == 0
    lines = Path("out.txt").read_text("utf-8").splitlines()
    assert (lines[0], lines[3], len(lines)) == (CAT_IT, DOG_IT, 4)
    assert "not UTF-8, what could not be read replaced: line 2, 3\n" in result.err
    stdin(content)
    assert mt("translate", "--errors", "replace").out.splitlines() == lines


def test_a_sentence_of_the_command_line_that_is_not_utf8(trained: Path, mt: Mt) -> None:
    result = mt("translate", "yes.", "caff\udce8")
    assert result.status == 2
    assert result.err.startswith("mt: the sentences given, line 2: not UTF-8 (byte 5 of the line)")
    assert result.err.endswith("-t UTF-8, or give --errors replace\n")
    result = mt("translate", "yes.", "caff\udce8", "--errors", "replace")
    assert (result.status, len(result.out.splitlines())) == (0, 2)


def test_standard_input_may_be_closed(
    trained: Path, mt: Mt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    result = mt("translate")
    assert result == Result(2, "", "mt: standard input is closed; give sentences or --input FILE\n")


def test_an_untrained_model_ends_soon_and_says_that_it_was_cut(trained: Path, mt: Mt) -> None:
    def forget(model: dict[str, torch.Tensor]) -> None:
        generator = torch.Generator().manual_seed(1)
        for tensor in model.values():
            tensor.copy_(torch.randn(tensor.shape, generator=generator) * 0.1)
        model["projection.bias"][EOS_ID] = -9.0

    change_weights(Path("weights/toy"), forget)
    result = mt("translate", CAT)
    assert (result.status, len(result.out.splitlines())) == (0, 1)
    assert len(result.out.split()) <= 22
    assert "cut at the longest allowed length, without an end: line 1" in result.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_quietly_and_leaves_no_file(trained: Path, number: int) -> None:
    Path("big.txt").write_text(f"{CAT}\n" * 300_000)
    process = processes.start(
        "translate", "--input", "big.txt", "--output", "big.it", folder=trained
    )
    processes.until(lambda: [p for p in trained.glob(".big*") if p.stat().st_size], process)
    assert process.pid
    os.kill(process.pid, number)
    assert processes.ended(process) == (130 if number == signal.SIGINT else -number)
    said = "mt: interrupted\n" if number == signal.SIGINT else ""
    assert Path("err.txt").read_text() == said
    assert not Path("big.it").exists()


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


def test_a_model_that_never_ends_is_cut_and_that_is_said(trained: Path, mt: Mt) -> None:
    def never_end(model: dict[str, torch.Tensor]) -> None:
        model["projection.bias"][EOS_ID] = -1e9

    change_weights(Path("weights/toy"), never_end)
    Path("in.txt").write_text(f"\n{CAT}\n{'cat ' * 20}\n")
    result = mt("translate", "--input", "in.txt")
    assert result.status == 0
    lines = result.out.split("\n")
    assert len(lines) == 4
    assert "cut at the longest allowed length, without an end: line 2, 3" in result.err
    assert 1 <= len(lines[1].split()) <= 22


def test_text_that_is_not_utf8_is_named_and_leaves_no_output(trained: Path, mt: Mt) -> None:
    content = f"{CAT}\nperché\n".encode() + "caffè\n".encode("latin-1")
    Path("in.txt").write_bytes(content)
    result = mt("translate", "--input", "in.txt", "--output", "out.txt")
    assert (result.status, result.out) == (2, "")
    assert f"{trained}/in.txt, line 3: not UTF-8 (byte 5 of the line)" in result.err
    assert "iconv" in result.err
    assert not Path("out.txt").exists()
    Path("out.txt").write_text("old")
    assert mt("translate", "--input", "in.txt", "--output", "out.txt").status == 2
    assert Path("out.txt").read_text() == "old"
    assert not list(Path().glob(".out*"))


@pytest.mark.parametrize("name", ["text", "./text", "link"])
def test_the_input_is_not_overwritten(trained: Path, mt: Mt, name: str) -> None:
    Path("text").write_text(f"{CAT}\n{DOG}\n")
    Path("link").symlink_to("text")
    result = mt("translate", "--input", "text", "--output", name)
    assert result.status == 2
    assert "is the input: it would be overwritten" in result.err
    assert Path("text").read_text() == f"{CAT}\n{DOG}\n"


def test_a_tokenizer_in_place_of_the_other_is_noticed(trained: Path, mt: Mt) -> None:
    shutil.copy("weights/toy/tokenizer_it.json", "weights/toy/tokenizer_en.json")
    result = mt("translate", CAT)
    assert result.status == 2
    assert "tokenizer_en.json" in result.err
    assert "is not the tokenizer that checkpoint" in result.err


def test_a_config_that_does_not_describe_the_weights_is_noticed(trained: Path, mt: Mt) -> None:
    config = Path("weights/toy/config.yaml")
    config.write_text(config.read_text().replace("d_model: 32", "d_model: 64"))
    result = mt("translate", CAT)
    assert result.status == 2
    assert "32 in the checkpoint" in result.err
    assert "64 by config.yaml" in result.err


def test_text_of_two_bytes_a_letter_gets_advice_that_helps(trained: Path, mt: Mt) -> None:
    Path("in.txt").write_bytes(CAT.encode("utf-16"))
    result = mt("translate", "--input", "in.txt")
    assert result.status == 2
    assert "line 1: not UTF-8" in result.err
    assert "iconv -f UTF-16 -t UTF-8" in result.err


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


@pytest.mark.parametrize("arguments", [["x"], ["--input", "pairs.jsonl"], ["x", "--output", "o"]])
def test_before_any_training_it_says_to_train(corpus: Path, mt: Mt, arguments: list[str]) -> None:
    result = mt("translate", *arguments)
    assert (result.status, result.out) == (2, "")
    assert result.err == (
        f"mt: no trained model in {corpus}/weights; run `mt train --config FILE` first, "
        "or name a model folder with --model\n"
    )
    assert [path.name for path in corpus.iterdir()] == ["pairs.jsonl"]


def test_a_folder_that_was_moved_elsewhere_is_all_that_it_takes(
    trained: Path, mt: Mt, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trained on a GPU, as far as its config says, and copied to a machine that has none."""
    other = tmp_path_factory.mktemp("other")
    shutil.move("weights/toy", other / "my model")
    shutil.rmtree(trained / "runs")
    monkeypatch.chdir(other)
    config = Path("my model/config.yaml")
    config.write_text(config.read_text().replace("device: cpu", "device: cuda"))
    assert "device: cuda" in config.read_text()
    assert mt("translate", "--model", "my model", CAT) == Result(0, CAT_IT + "\n", "")
    assert mt("translate", "--model", other / "my model", CAT).out == CAT_IT + "\n"


@pytest.mark.parametrize("language", ["en", "it"])
@pytest.mark.parametrize("damage", ["emptied", "cut", "gone", "folder", "list"])
def test_a_damaged_tokenizer_is_named(trained: Path, mt: Mt, language: str, damage: str) -> None:
    file = trained / "weights" / "toy" / f"tokenizer_{language}.json"
    content = file.read_bytes()
    file.unlink()
    if damage == "folder":
        file.mkdir()
    elif damage != "gone":
        half = content[: len(content) // 2]
        file.write_bytes({"emptied": b"", "cut": half, "list": b"[]"}[damage])
    result = mt("translate", CAT)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(f"mt: {file}: ")
    assert len(result.err.splitlines()) == 1


def test_a_tokenizer_of_another_model_is_refused_with_both_sizes(trained: Path, mt: Mt) -> None:
    file = Path("weights/toy/tokenizer_it.json")
    tokenizer = Tokenizer.load(file)
    size = tokenizer.vocab_size
    Tokenizer.train(["a b c"], "it", ModelFolder(file.parent).read_config().tokenizer).save(file)
    result = mt("translate", CAT)
    assert (result.status, result.out) == (2, "")
    assert f"{file.absolute()} (7 tokens) is not the tokenizer" in result.err
    assert f"({size} tokens)" in result.err
    assert "size mismatch" not in result.err


def test_damaged_weights_are_named_and_those_before_used(trained: Path, mt: Mt) -> None:
    newest = sorted(Path("weights/toy/checkpoints").iterdir())[-1]
    file = newest / "model.safetensors"
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    result = mt("translate", CAT)
    assert result.status == 0
    assert len(result.out.splitlines()) == 1
    assert f"damaged checkpoint {newest.name} passed over: {file} does not match" in result.err
    for checkpoint in Path("weights/toy/checkpoints").iterdir():
        (checkpoint / "state.json").unlink()
    result = mt("translate", CAT)
    assert result.status == 2
    assert "every checkpoint in" in result.err


@pytest.mark.parametrize("kind", ["file", "folder", "weights", "state"])
def test_pickles_are_refused_and_never_run(trained: Path, mt: Mt, kind: str) -> None:
    bomb = pickle.dumps(Bomb())
    model = Path("bad")
    if kind == "file":
        model = Path("model.pt")
        model.write_bytes(bomb)
    elif kind == "folder":
        model.mkdir()
        (model / "model.pt").write_bytes(bomb)
    else:
        shutil.copytree("weights/toy", model)
        name = "model.safetensors" if kind == "weights" else "state.json"
        for checkpoint in (model / "checkpoints").iterdir():
            (checkpoint / name).write_bytes(bomb)
    result = mt("translate", "--model", model, CAT)
    assert (result.status, result.out) == (2, "")
    assert str(model.absolute()) in result.err
    assert not Path("PWNED").exists()


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch, here: Path) -> Callable[[bytes], None]:
    def give(content: bytes) -> None:
        (here / "stdin").write_bytes(content)
        monkeypatch.setattr(sys, "stdin", (here / "stdin").open())

    return give


@pytest.mark.parametrize("arguments", [[], ["--input", "-"]])
def test_standard_input(
    trained: Path, mt: Mt, stdin: Callable[[bytes], None], arguments: list[str]
) -> None:
    stdin(f"{CAT}\n\n{DOG}".encode())
    assert mt("translate", *arguments) == Result(0, f"{CAT_IT}\n\n{DOG_IT}\n", "")
    stdin(b"")
    assert mt("translate", *arguments) == Result(0, "", "")
    stdin(b"yes.\n\xe8\n")
    result = mt("translate", *arguments)
    assert result.status == 2
    assert "standard input, line 2: not UTF-8" in result.err


def test_a_pipe_gets_an_answer_to_each_line_as_it_comes(trained: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "mt", "translate"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    for source, target in KNOWN[:3]:
        process.stdin.write(f"{source}\n".encode())
        assert process.stdout.readline().decode() == f"{target}\n"
    out, err = process.communicate(f"\n{CAT}".encode())
    assert (process.returncode, out.decode(), err) == (0, f"\n{CAT_IT}\n", b"")


def test_a_reader_that_leaves_ends_it_quietly(trained: Path) -> None:
    Path("big.txt").write_text(f"{CAT}\n" + "\n" * 300_000)  # more than a pipe holds
    process = subprocess.Popen(
        [sys.executable, "-m", "mt", "translate", "--input", "big.txt"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline().decode() == f"{CAT_IT}\n"
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(60) == 141  # what a shell shows for SIGPIPE


def test_utf8_whatever_the_locale(trained: Path) -> None:
    command = [sys.executable, "-m", "mt", "translate", "the coffee is hot.", "Perché (no)?"]
    chosen = ("LC_", "LANG", "PYTHONIO", "PYTHONUTF8", "PYTHONCOERCE")
    plain = {k: v for k, v in os.environ.items() if not k.startswith(chosen)}
    settings = [
        {"LC_ALL": "C", "LANG": "C"},
        {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"},
    ]
    processes = [
        subprocess.Popen(command, env=plain | s, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for s in settings
    ]
    for process in processes:
        out, err = process.communicate(timeout=100)
        assert process.returncode == 0, err
        assert out.split(b"\n")[0].decode("utf-8") == "il caffè è caldo."
        assert "Perché" in err.decode("utf-8")
