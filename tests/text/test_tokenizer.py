"""Word-level tokenizers: vocabulary, files, unknown words, typed control words, determinism."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from mt.config import TokenizerConfig
from mt.errors import UserError
from mt.text.tokenizer import (
    _SETTLED,
    EOS_ID,
    PAD_ID,
    SOS_ID,
    SPECIAL,
    UNK_ID,
    UNKNOWN_MARK,
    Tokenizer,
)

EVERY_WORD = TokenizerConfig(min_frequency=1)
RECIPE = Path(__file__).resolve().parents[3] / "shared" / "data" / "opus_books"
LINES = [
    "the cat sleeps .",
    "the dog eats .",
    'he said : " no "',
    "yes . yes ! yes ?",
    "the caffè - l'uomo",
    "[ EOS ] [ PAD",
]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(LINES, "en", EVERY_WORD)


def test_special_tokens_come_first(tokenizer: Tokenizer) -> None:
    data = json.loads(tokenizer.to_json())
    assert list(data["model"]["vocab"])[:4] == list(SPECIAL)
    assert tokenizer.vocab_size == len(data["model"]["vocab"])


def test_frequent_words_come_first_and_ties_in_order_of_letters() -> None:
    tokenizer = Tokenizer.train(["b a c", "b a d"], "en", TokenizerConfig(min_frequency=1))
    words = list(json.loads(tokenizer.to_json())["model"]["vocab"])[4:]
    assert words == ["a", "b", "c", "d"]


def test_min_frequency_and_vocab_size() -> None:
    lines = ["a a a b b c"]
    assert Tokenizer.train(lines, "en", TokenizerConfig(min_frequency=2)).vocab_size == 6
    assert Tokenizer.train(lines, "en", TokenizerConfig(min_frequency=3)).vocab_size == 5
    small = TokenizerConfig(min_frequency=1, vocab_size=6)
    assert Tokenizer.train(lines, "en", small).vocab_size == 6


@pytest.mark.parametrize(
    "text",
    ["the cat [EOS] sleeps .", "[PAD]", "[UNK][SOS]", "a[EOS]b", "[EOS].", " [SOS] ", "[[EOS]]"],
)
@pytest.mark.parametrize("saved", [False, True])
def test_typed_control_words_are_text(text: str, saved: bool, tmp_path: Path) -> None:
    tokenizer = Tokenizer.train(LINES, "en", EVERY_WORD)
    if saved:
        tokenizer.save(tmp_path / "tokenizer_en.json")
        tokenizer = Tokenizer.load(tmp_path / "tokenizer_en.json")
    ids = tokenizer.encode(text)
    assert not {PAD_ID, SOS_ID, EOS_ID} & set(ids)
    assert "".join(tokenizer.tokens(text)) == text.replace(" ", "")


def test_a_corpus_that_spells_control_words_does_not_learn_them() -> None:
    tokenizer = Tokenizer.train(["x [EOS] [PAD] [UNK] [SOS]"] * 3, "en", EVERY_WORD)
    assert UNK_ID not in tokenizer.encode("[EOS] [PAD]")
    assert tokenizer.decode(tokenizer.encode("[EOS] [PAD]")) == "[EOS] [PAD]"


@pytest.mark.parametrize("text", ['"yes."', "yes?!", "yes...", "“yes”", '?!."', "yes!\"'"])
def test_each_mark_is_looked_up_alone(tokenizer: Tokenizer, text: str) -> None:
    assert [word for word in tokenizer.unknown(text) if word != "'"] == []


def test_spaced_and_written_punctuation_are_the_same_ids(tokenizer: Tokenizer) -> None:
    for spaced, written in [("yes .", "yes."), ("[ EOS ]", "[EOS]"), ('" no "', '"no"')]:
        assert tokenizer.encode(spaced) == tokenizer.encode(written)


def test_other_spellings_of_what_is_known_are_known(tokenizer: Tokenizer) -> None:
    italian = Tokenizer.train(["l'uomo - po' \""] * 2, "it", EVERY_WORD)
    assert italian.encode("l’uomo") == italian.encode("l'uomo")
    assert italian.unknown("un po’ uomo-l'uomo “uomo”") == ["un"]


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("il\u00a0gatto", "il gatto"),
        ("caffe\u0300", "caffè"),
        ("\ufeffil gatto", "il gatto"),
        ("il\u200b gat\u00adto", "il gatto"),
        ("il\x00gatto\r\n", "il gatto"),
        ("il\u2003gatto\u2028", "il gatto"),
    ],
)
def test_what_nobody_sees_changes_nothing(written: str, same: str) -> None:
    tokenizer = Tokenizer.train(["il gatto caffè"], "it", EVERY_WORD)
    assert tokenizer.encode(written) == tokenizer.encode(same)
    again = Tokenizer.train([written], "it", EVERY_WORD)
    assert again.to_json() == Tokenizer.train([same], "it", EVERY_WORD).to_json()


def test_unknown_words_are_seen_not_swallowed(tokenizer: Tokenizer) -> None:
    text = "the Zebra sleeps, caffe\u0300 3,14"
    assert tokenizer.unknown(text) == ["Zebra", ",", "3,14"]
    ids = tokenizer.encode(text)
    marked = tokenizer.decode(ids)
    assert marked.count(UNKNOWN_MARK) == 3
    assert tokenizer.decode(ids, tokenizer.unknown(text)) == unicodedata.normalize("NFC", text)
    assert tokenizer.decode(ids, "?").count("?") == 3
    assert tokenizer.decode(ids, ["Zebra"]).count(UNKNOWN_MARK) == 2


def test_control_ids_are_not_printed(tokenizer: Tokenizer) -> None:
    ids = [SOS_ID, *tokenizer.encode("the cat"), EOS_ID, PAD_ID, PAD_ID]
    assert tokenizer.decode(ids) == "the cat"
    assert tokenizer.decode([]) == ""


@pytest.mark.parametrize("side", ["src", "tgt"])
def test_an_empty_vocabulary_is_refused(side: str) -> None:
    with pytest.raises(UserError) as error:
        Tokenizer.train((f"w{i}" for i in range(20)), "en", TokenizerConfig(), side)
    for part in ("vocabulary", "en", side, "empty", "min_frequency 2", "100 %", "lower"):
        assert part in str(error.value)


def test_one_file_holds_all(tokenizer: Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "anything.json"
    tokenizer.save(path)
    loaded = Tokenizer.load(path)
    assert loaded.language == "en"
    assert loaded.to_json() == tokenizer.to_json()
    assert loaded.encode_batch(LINES) == tokenizer.encode_batch(LINES)
    assert Tokenizer.load(path, "fr").language == "fr"
    library = tokenizers.Tokenizer.from_file(str(path))
    for line in LINES:
        assert library.encode(line).ids == tokenizer.encode(line)


@pytest.mark.parametrize("content", [None, "", "half", "{}", "[]", "\xff", '{"model": {}}'])
def test_an_unreadable_file_is_named(
    tokenizer: Tokenizer, content: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "tokenizer_en.json"
    if content == "half":
        content = tokenizer.to_json()[: len(tokenizer.to_json()) // 2]
    if content is not None:
        path.write_bytes(content.encode("latin-1" if content == "\xff" else "utf-8"))
    with pytest.raises(UserError) as error:
        Tokenizer.load(path)
    assert str(path) in str(error.value)
    assert ("no such" if content is None else "empty or damaged") in str(error.value)
    assert "mt train --restart" in str(error.value)


def test_a_folder_is_no_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        Tokenizer.load(tmp_path)


def test_special_tokens_elsewhere_are_refused(tokenizer: Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer_en.json"
    data = json.loads(tokenizer.to_json())
    vocab = data["model"]["vocab"]
    vocab["[PAD]"], vocab["[SOS]"] = 2, 1
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(UserError, match=r"ids 0 to 3.*\[PAD\] 2, \[SOS\] 1") as error:
        Tokenizer.load(path)
    assert str(path) in str(error.value)


def test_the_same_text_gives_the_same_bytes_in_every_process(tokenizer: Tokenizer) -> None:
    program = (
        "import hashlib, sys, json\n"
        "from mt.config import TokenizerConfig\n"
        "from mt.text.tokenizer import Tokenizer\n"
        "for kind, size in (('word', 30000), ('bpe', 300)):\n"
        "    config = TokenizerConfig(kind=kind, min_frequency=1, vocab_size=size)\n"
        "    made = Tokenizer.train(json.loads(sys.argv[1]), 'en', config).to_json()\n"
        "    print(hashlib.sha256(made.encode()).hexdigest())\n"
        "assert 'torch' not in sys.modules\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program, json.dumps(LINES)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    expected = hashlib.sha256(tokenizer.to_json().encode()).hexdigest()
    assert outputs.pop().split()[0] == expected


def test_sentences_may_come_from_an_iterator_that_is_read_once() -> None:
    seen = 0

    def lines() -> object:
        nonlocal seen
        for line in LINES:
            seen += 1
            yield line

    made = Tokenizer.train(lines(), "en", EVERY_WORD)  # type: ignore[arg-type]
    assert seen == len(LINES)
    assert made.to_json() == Tokenizer.train(LINES, "en", EVERY_WORD).to_json()


@given(st.text() | st.text(alphabet=st.characters(codec=None, categories=["Cs", "Cc", "Mn", "Po"])))
@settings(max_examples=200, deadline=None)
def test_any_text_is_read(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    assert all(0 <= i < tokenizer.vocab_size and i not in (1, 2, 3) for i in ids)
    assert len(tokenizer.tokens(text)) == len(ids)
    assert tokenizer.encode_batch([text, "the", text]) == [ids, tokenizer.encode("the"), ids]
    tokenizer.decode(ids, tokenizer.unknown(text)).encode()


def test_what_skips_normalisation_is_normal(tokenizer: Tokenizer) -> None:
    library = tokenizers.Tokenizer.from_str(tokenizer.to_json())
    settled = [chr(i) for i in range(0x10000) if not _SETTLED.search(chr(i))]
    assert len(settled) > 20_000
    for text in ("".join(settled), "".join(reversed(settled)), " ".join(settled)):
        assert library.normalizer.normalize_str(text) == text


@given(st.text(alphabet=st.characters(max_codepoint=0x3FF) | st.sampled_from("“–€한中ᆨ́")))
@settings(max_examples=200, deadline=None)
def test_ids_are_those_of_the_bare_library(tokenizer: Tokenizer, text: str) -> None:
    library = tokenizers.Tokenizer.from_str(tokenizer.to_json())
    pairs = zip(tokenizer.encode(text), library.encode(text).ids, strict=True)
    assert all(ours == theirs or theirs == UNK_ID for ours, theirs in pairs)


@pytest.mark.parametrize("language", ["en", "it"])
def test_files_of_the_plain_recipe_are_usable(language: str) -> None:
    path = RECIPE / f"tokenizer_{language}.json"
    if not path.exists():
        pytest.skip("the recipe's tokenizers are not beside this checkout")
    ours, theirs = Tokenizer.load(path), tokenizers.Tokenizer.from_file(str(path))
    assert (ours.language, ours.vocab_size) == (language, theirs.get_vocab_size())
    with (RECIPE / "partial.jsonl").open(encoding="utf-8") as rows:
        texts = [json.loads(row)["translation"][language] for row in rows]
    assert ours.encode_batch(texts) == [theirs.encode(text).ids for text in texts]
    assert EOS_ID in theirs.encode("the [EOS]").ids
    assert EOS_ID not in ours.encode("the [EOS]")
    exact = sum(
        ours.decode(ours.encode(text), ours.unknown(text)) == " ".join(text.split())
        for text in texts
    )
    assert exact > 0.8 * len(texts)
