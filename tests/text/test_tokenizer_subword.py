"""BPE and unigram: nothing is lost on the way to ids and back, and samples can be repeated."""

from __future__ import annotations

import json
import random
import unicodedata
from pathlib import Path

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from mt.config import TokenizerConfig
from mt.errors import UserError
from mt.text.tokenizer import Tokenizer
from mt.text.tokenizer_subword import DroppingMerges

OPENMIX = Path(__file__).resolve().parents[3] / "shared" / "data" / "openmix" / "train.jsonl"
LINES = [
    "L'uomo mangia il pane nella casa dell'amico.",
    "La donna mangia la mela; l'amico beve l'acqua.",
    "Perché (no)? [EOS] <0x41> è vero!",
    "the man eats the bread in the house of the friend.",
] * 5


def make(kind: str, size: int = 360) -> Tokenizer:
    return Tokenizer.train(LINES, "it", TokenizerConfig(kind=kind, vocab_size=size))


KINDS = {kind: make(kind) for kind in ("bpe", "unigram")}


def collapsed(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "\n",
        " L'uomo  beve ",
        "日本語 😀👍🏽",
        "[EOS] [PAD] [UNK] [SOS]",
        "<0x41> <unk> </s>",
        "x▁y ▁",
        "e\u0300 \u0300",
        "a\u00a0b\u2028c\x1cd",
        "\x00\x01",
        "l'uomo ' d' '",
    ],
)
def test_text_comes_back(kind: str, text: str) -> None:
    ids = KINDS[kind].encode(text)
    assert not {0, 1, 2, 3} & set(ids)
    assert KINDS[kind].decode(ids) == collapsed(text) == KINDS[kind].normalised(text)


@pytest.mark.parametrize("kind", KINDS)
@given(text=st.text(alphabet=st.characters(max_codepoint=0xFFFF, exclude_categories=["Cn", "Cs"])))
@settings(max_examples=150, deadline=None)
def test_any_text_comes_back(kind: str, text: str) -> None:
    tokenizer = KINDS[kind]
    assert tokenizer.decode(tokenizer.encode(text)) == tokenizer.normalised(text)
    assert tokenizer.unknown(text) == []


@pytest.mark.parametrize("kind", KINDS)
def test_what_no_encoding_can_hold_is_replaced(kind: str) -> None:
    assert KINDS[kind].decode(KINDS[kind].encode("a\ud800b")) == "a\ufffdb"


@pytest.mark.parametrize("kind", KINDS)
def test_ten_thousand_real_lines_come_back(kind: str) -> None:
    if not OPENMIX.exists():
        pytest.skip("the shared corpora are not beside this checkout")
    with OPENMIX.open(encoding="utf-8") as rows:
        texts = [json.loads(row)["translation"]["it"] for row, _ in zip(rows, range(10000))]  # noqa: B905
    tokenizer = Tokenizer.train(texts[:3000], "it", TokenizerConfig(kind=kind, vocab_size=1000))
    for text, ids in zip(texts, tokenizer.encode_batch(texts), strict=True):
        assert tokenizer.decode(ids) == collapsed(text)


@pytest.mark.parametrize("kind", KINDS)
def test_files_hold_all(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer_it.json"
    KINDS[kind].save(path)
    loaded = Tokenizer.load(path)
    assert (loaded.language, loaded.kind) == ("it", kind)
    assert loaded.to_json() == KINDS[kind].to_json()
    library = tokenizers.Tokenizer.from_file(str(path))
    for line in LINES[:4]:
        assert loaded.encode(line) == library.encode(line).ids
        assert library.decode(loaded.encode(line)) == line


def test_pieces_are_shown_with_their_spaces() -> None:
    assert "".join(KINDS["bpe"].tokens("il pane")) == "▁il▁pane"


def test_without_dropout_the_sampler_cuts_as_the_library_does() -> None:
    tokenizer = KINDS["bpe"]
    model = json.loads(tokenizer.to_json())["model"]
    merges = DroppingMerges(model["vocab"], model["merges"])
    for text in [*LINES[:4], "日本 xyz"]:
        pieces = tokenizer._pieces(text)
        ids = [i for piece in pieces for i in merges.ids(piece, 0.0, random.Random(0))]
        assert ids == tokenizer.encode(text)


def test_samples_repeat_and_mean_the_same() -> None:
    tokenizer, text = KINDS["bpe"], LINES[0]
    samples = [tokenizer.encode(text, sample=seed, dropout=0.3) for seed in range(20)]
    assert samples == [tokenizer.encode(text, sample=seed, dropout=0.3) for seed in range(20)]
    assert len({tuple(ids) for ids in samples}) > 5
    assert {tokenizer.decode(ids) for ids in samples} == {text}
    assert tokenizer.encode(text, sample=1, dropout=0.0) == tokenizer.encode(text)


def test_dropout_near_one_leaves_single_characters() -> None:
    ids = KINDS["bpe"].encode("il pane", sample=0, dropout=0.999999)
    assert len(ids) == len(" il pane")


def test_one_vocabulary_for_two_languages() -> None:
    config = TokenizerConfig(kind="bpe", vocab_size=360, shared=True)
    src, tgt = Tokenizer.train_shared(iter(LINES[:2]), iter(LINES[2:]), ("en", "it"), config)
    assert (src.language, tgt.language) == ("en", "it")
    vocabularies = [json.loads(t.to_json())["model"] for t in (src, tgt)]
    assert vocabularies[0] == vocabularies[1]
    assert src.encode(LINES[0]) == tgt.encode(LINES[0])


@pytest.mark.parametrize("kind", KINDS)
def test_no_text_is_an_empty_vocabulary(kind: str) -> None:
    with pytest.raises(UserError, match=r"vocabulary of it .* is empty"):
        Tokenizer.train(["", "  "], "it", TokenizerConfig(kind=kind, vocab_size=300))


def test_too_many_characters_for_the_vocabulary() -> None:
    letters = "".join(chr(0x4E00 + i) for i in range(200))
    with pytest.raises(UserError, match=r"vocab_size \(300\) is too small for zh \(tgt\)"):
        Tokenizer.train([letters], "zh", TokenizerConfig(kind="bpe", vocab_size=300), "tgt")


def test_the_config_refuses_what_does_not_go_together() -> None:
    for given_, word in [
        ({"kind": "unigram", "bpe_dropout": 0.1}, "needs tokenizer.kind: bpe"),
        ({"shared": True}, "bpe or unigram"),
        ({"kind": "bpe", "vocab_size": 100}, "300 or more"),
    ]:
        mistakes = list(TokenizerConfig(**given_).mistakes())  # type: ignore[arg-type]
        assert len(mistakes) == 1
        assert word in mistakes[0][1]
    assert list(TokenizerConfig(kind="bpe", bpe_dropout=0.1, shared=True).mistakes()) == []
