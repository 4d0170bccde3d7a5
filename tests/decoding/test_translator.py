"""Translator: strings to strings, the same alone and in a batch, with nothing dropped silently."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mt.config import Config
from mt.config_file import config_from_dict
from mt.decoding.engine import EXTRA_LENGTH, Search
from mt.decoding.torch_engine import TorchEngine
from mt.decoding.translator import ENOUGH, LONGER, Translator, batches
from mt.errors import UserError
from mt.model.build import build_model
from mt.model.interface import TranslationModel
from mt.model.weights import load_weights
from mt.storage.checkpoint import write_checkpoint
from mt.storage.model_folder import ModelFolder
from mt.text.tokenizer import EOS_ID, PAD_ID, SOS_ID, UNK_ID, Tokenizer
from tests.conftest import toy_config, toy_pairs

CPU = torch.device("cpu")


def config(**changes: object) -> Config:
    return config_from_dict(toy_config(**changes), "test")


def tokenizers(settings: Config) -> tuple[Tokenizer, Tokenizer]:
    pairs = [*toy_pairs(120), ("yes - no!", "sì - no!")]
    return (
        Tokenizer.train([s for s, _ in pairs], "en", settings.tokenizer),
        Tokenizer.train([t for _, t in pairs], "it", settings.tokenizer, "tgt"),
    )


def make(
    seed: int = 0,
    likes: dict[int, float] | None = None,
    search: Search | None = None,
    **changes: object,
) -> Translator:
    """An untrained translator, whose model `likes` some ids more than others."""
    chosen = config(**changes)
    src, tgt = tokenizers(chosen)
    model = build_model(chosen.model, src.vocab_size, tgt.vocab_size, seed=seed)
    torch.manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
        model.projection.bias[EOS_ID] += 2.0
        for token, gain in (likes or {}).items():
            model.projection.bias[token] += gain
    return Translator(TorchEngine(model.eval(), CPU), src, tgt, chosen, search=search)


def model_of(translator: Translator) -> TranslationModel:
    assert isinstance(translator.engine, TorchEngine)
    return translator.engine.model


SENTENCES = [source for source, _ in toy_pairs(40)] + [
    "", "the cat", "zzz", " ", "the " * 40, "cat.", "the cat\u2028sleeps", "[EOS]", "42", "\ud83d",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("implementation", ["native", "torch"])
def test_alone_and_in_any_batch_a_translation_is_the_same(implementation: str, seed: int) -> None:
    translator = make(
        seed, model__implementation=implementation, model__attention_bias=implementation == "torch"
    )
    alone = [translator.translate([sentence])[0] for sentence in SENTENCES]
    assert len({translation.text for translation in alone}) > 3
    for size in (1, 7, 64):
        together = translator.translate(SENTENCES, batch_size=size)
        for a, b in zip(alone, together, strict=True):
            assert (a.source, a.text, a.unknown, a.cut) == (b.source, b.text, b.unknown, b.cut)
            assert a.log_probability == pytest.approx(b.log_probability, abs=1e-4)
    turned = translator.translate(SENTENCES[::-1], batch_size=5)[::-1]
    assert [t.text for t in turned] == [t.text for t in alone]


def test_blank_gives_blank_and_nothing_gives_nothing() -> None:
    translator = make()
    assert translator.translate([]) == []
    blanks = ["", " ", "\t", "\u00a0", "\u200b", "\ufeff", "\u2028\n", "\x00"]
    for translation in [*translator.translate(blanks), *translator.translate([""])]:
        assert (translation.text, translation.cut, translation.source_tokens) == ("", False, 0)
    mixed = translator.translate(["the cat", "", "the dog"])
    assert [bool(t.text) for t in mixed] == [True, False, True]


def test_a_source_that_is_too_long_is_translated_in_parts() -> None:
    translator = make()
    long, short = translator.translate(["cat " * 200, "cat " * 22])
    assert long.source_tokens == 200
    assert long.parts == [" ".join(["cat"] * 20)] * 10
    assert (short.source_tokens, len(short.parts)) == (22, 1)
    (part,) = translator.translate([" ".join(["cat"] * 20)])
    assert long.text == " ".join([part.text] * 10)


LONG = ("the cat sleeps today. " * 3 + "the dog sings well, " * 8 + "a child, XYZ! ") * 2


@pytest.mark.parametrize("beam", [1, 3])
def test_parts_together_are_as_one_sentence(beam: int) -> None:
    """What is told of the whole is what is told of its parts."""
    translator = make(decoding__beam_size=beam)
    translator.search = replace(translator.search, align=True, n_best=beam)
    whole, *parts = translator.translate([LONG, *translator.translate([LONG])[0].parts])
    assert len(parts) > 4
    assert " ".join(whole.parts) == LONG.strip()
    assert whole.source_tokens == sum(part.source_tokens for part in parts)
    assert whole.unknown == [word for part in parts for word in part.unknown]
    assert whole.log_probability == pytest.approx(sum(p.log_probability for p in parts), abs=1e-3)
    (alternative,) = whole.alternatives  # which parts a second one should differ in is not defined
    assert all(len(part.alternatives) == beam for part in parts)
    found = [part.alternatives[0] for part in parts]
    assert alternative.text == " ".join(one.text for one in found if one.text)
    assert (alternative.repeated, alternative.marked) == (
        any(one.repeated for one in found), sum(one.marked for one in found)
    )  # fmt: skip
    hypothesis = alternative.hypothesis
    assert hypothesis.ids == [i for one in found for i in one.hypothesis.ids]
    assert hypothesis.cut == any(one.hypothesis.cut for one in found)
    gains = hypothesis.token_log_probabilities
    assert sum(gains) == pytest.approx(hypothesis.log_probability, abs=1e-3)
    assert len(gains) == len(hypothesis.ids) + (not hypothesis.cut)
    length = len(hypothesis.ids) + len(found)
    assert hypothesis.score * translator.search.penalty(length) == pytest.approx(
        hypothesis.log_probability
    )
    assert len(hypothesis.alignment) == len(hypothesis.ids)
    places, before = [], 0
    for one, part in zip(found, parts, strict=True):
        places += [before + place for place in one.hypothesis.alignment]
        before += part.source_tokens
    assert hypothesis.alignment == places


def test_paragraphs_are_translated_sentence_by_sentence() -> None:
    one = "the cat sleeps today."
    two = "The dog sings!"
    translator = make()
    translator.paragraphs = True
    both, blank, alone = translator.translate([f"{one} {two}", " ", one])
    assert both.parts == [one, two]
    assert (blank.text, blank.parts) == ("", [])
    texts = [t.text for t in make().translate([one, two])]
    assert (both.text, alone.text) == (" ".join(texts), texts[0])


def test_a_prefix_begins_the_first_part_alone() -> None:
    translator = make()
    (translation,) = translator.translate(["cat " * 44], prefix="il gatto")
    first, second = (p.text for p in translator.translate(["cat " * 22], prefix="il gatto")
                     + translator.translate(["cat " * 22]))  # fmt: skip
    assert translation.text == f"{first} {second}"


def test_what_is_done_is_given_before_all_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the input; the longest sentence comes last in the search."""
    translator = make()
    searched: list[int] = []
    search = translator._search
    monkeypatch.setattr(
        translator,
        "_search",
        lambda parts: (searched.extend(p.sentence for p in parts), search(parts)),
    )
    stream = translator.stream(["", "the cat", "the dog", "a", "the cat sleeps here", ""], 1)
    seen = [(next(stream).source, sorted(searched)) for _ in range(6)]
    assert seen == [
        ("", [3]), ("the cat", [1, 3]), ("the dog", [1, 2, 3]), ("a", [1, 2, 3]),
        ("the cat sleeps here", [1, 2, 3, 4]), ("", [1, 2, 3, 4]),
    ]  # fmt: skip


def test_a_character_of_more_tokens_than_the_limit_is_read_too() -> None:
    """Three bytes to a model that reads one token at once; the text of no word is lost."""
    shared = {"tokenizer": {"kind": "bpe", "vocab_size": 300, "min_frequency": 1}}
    chosen = config_from_dict({**toy_config(data__max_length=3), **shared}, "test")
    src, tgt = tokenizers(chosen)
    model = build_model(chosen.model, src.vocab_size, tgt.vocab_size)
    (translation,) = Translator(TorchEngine(model.eval(), CPU), src, tgt, chosen).translate(
        ["漢 a"]
    )
    assert translation.source_tokens > 3
    assert "".join(dict.fromkeys(translation.parts)) == "漢a"


@pytest.mark.parametrize("tokens", [1, 3, 10, 22])
@pytest.mark.parametrize("ratio", [0.1, 1.0, 2.0, 100.0])
def test_no_output_is_longer_than_allowed_and_a_cut_is_noted(tokens: int, ratio: float) -> None:
    """A model that never ends says as much as it may, and not a word more."""
    never_ends = make(likes={EOS_ID: -1e6, 5: 1e3}, decoding__max_length_ratio=ratio)
    (translation,) = never_ends.translate([" ".join(["cat"] * tokens)])
    word = never_ends.tgt.decode([5])
    assert translation.cut
    allowed = min(int(tokens * ratio) + EXTRA_LENGTH, 22)
    assert translation.text == never_ends.tgt.decode([5] * allowed)
    assert word in translation.text


def test_a_model_that_ends_at_once_still_says_a_word() -> None:
    """And the note says nothing of a cut."""
    (translation,) = make(likes={EOS_ID: 1e3, 5: 500.0}).translate(["the cat"])
    assert translation.text
    assert not translation.cut


def test_a_word_that_the_model_cannot_say_is_copied_or_marked_never_left_out() -> None:
    translator = make(likes={UNK_ID: 1e6, EOS_ID: -1e6})
    (translation,) = translator.translate(["the cat XYZ"])
    words = translation.text.split()
    assert len(words) == 3 * 2 + EXTRA_LENGTH
    assert set(words) <= {"the", "cat", "XYZ", "<unk>"}


@pytest.mark.parametrize("control", [PAD_ID, SOS_ID])
def test_control_tokens_are_never_said(control: int) -> None:
    liked, plain = make(likes={control: 1e4}), make()
    for a, b in zip(liked.translate(SENTENCES), plain.translate(SENTENCES), strict=True):
        assert a.text == b.text
        assert "[PAD]" not in a.text
        assert "[SOS]" not in a.text


def test_unknown_words_are_listed_as_they_were_written() -> None:
    (translation,) = make().translate(["The cat, [EOS] sleeps XYZ perch\u0065\u0301!"])
    assert translation.unknown == ["The", ",", "[", "EOS", "]", "XYZ", "perché"]
    assert make().translate(["the cat sleeps today."])[0].unknown == []


@pytest.mark.parametrize("word", ["[EOS]", "[SOS]", "[PAD]", "[UNK]"])
def test_a_typed_control_word_is_no_control_token(word: str) -> None:
    translator = make()
    (translation,) = translator.translate([f"the {word} cat"])
    ids = translator.src.encode(translation.source)
    (part,) = translator._read(0, translation, translation.source, ids, [])
    framed = list(part.framed)
    assert framed[0] == SOS_ID
    assert framed[-1] == EOS_ID
    assert not {SOS_ID, EOS_ID, PAD_ID} & set(framed[1:-1])


def test_line_breaks_never_come_out() -> None:
    """Whatever the vocabulary holds, as one from another library might."""
    translator = make(likes={EOS_ID: -1e6, 5: 1e3})
    for text in ("a\nb", "\n", "a\r\nb", "\u2028", "a\x85b", "\x0bx\x0c"):
        translator.tgt.decode = lambda *_, text=text, **__: text  # type: ignore[method-assign]
        (translation,) = translator.translate(["the cat"])
        assert len(f"{translation.text}x".splitlines()) == 1


@pytest.fixture(scope="module")
def untrained() -> Translator:
    return make()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.text(max_size=30), max_size=5))
def test_any_text_gives_a_line_for_a_line(untrained: Translator, sentences: list[str]) -> None:
    translations = untrained.translate(sentences, batch_size=2)
    assert [t.source for t in translations] == sentences
    for translation in translations:
        assert len(f"x{translation.text}x".splitlines()) == 1
        translation.text.encode("utf-8")
        assert bool(translation.text) == bool(translation.source_tokens)


@pytest.mark.parametrize("tied", ["none", "decoder"])
def test_a_translator_read_from_its_folder_is_the_one_that_was_written(
    tmp_path: Path, tied: str
) -> None:
    translator = make(model__tie_embeddings=tied, model__dropout=0.9)
    chosen = config(model__tie_embeddings=tied, model__dropout=0.9)
    model = model_of(translator)
    folder = ModelFolder(tmp_path)
    for tokenizer in (translator.src, translator.tgt):
        tokenizer.save(folder.tokenizer_file(tokenizer.language))
    folder.write_config(chosen)
    state = {"tokenizers": folder.tokenizer_state(translator.src, translator.tgt)}
    folder.checkpoints.mkdir()
    parts = {"model": {n: p.detach() for n, p in model.named_parameters()}}
    write_checkpoint(folder.checkpoints, 1, parts, state)
    read = folder.read_config()
    src, tgt = folder.tokenizers(read)
    again = Translator(TorchEngine.load(folder, read, src, tgt, CPU), src, tgt, read)
    assert not model_of(again).training
    for _ in range(2):  # no dropout: as often as one likes
        assert again.translate(SENTENCES) == translator.translate(SENTENCES)


def test_weights_of_another_model_are_not_taken() -> None:
    model = model_of(make())
    weights = {n: p.detach() for n, p in model.named_parameters()}
    del weights["projection.bias"]
    with pytest.raises(UserError, match=r"projection.bias is not there in the checkpoint and"):
        load_weights(model, weights)


def test_what_stands_for_a_word_that_the_vocabulary_lacks() -> None:
    """A mark, a word of the source and its number, or a word that there is."""
    found = {}
    for unknown in ("mark", "copy", "ban"):
        translator = make(likes={UNK_ID: 1e6, EOS_ID: -1e6})
        translator.unknown = unknown
        (found[unknown],) = translator.translate(["the cat XYZ"])
    length = 3 * 2 + EXTRA_LENGTH
    assert found["mark"].text.split() == ["<unk>"] * length
    assert (found["mark"].marked, found["mark"].copied) == (length, [])
    assert found["copy"].text.split() == found["copy"].copied
    assert set(found["copy"].copied) <= {"the", "cat", "XYZ"}
    assert found["copy"].marked == 0
    assert "<unk>" not in found["ban"].text
    assert (found["ban"].marked, found["ban"].copied) == (0, [])


def test_a_translator_needs_no_torch() -> None:
    """Another engine may bring a library of its own, and torch takes seconds to import."""
    modules = "mt.decoding.translator, mt.storage.model_folder"
    program = f"import {modules}, sys; assert 'torch' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize(
    ("search", "words"),
    [
        (Search(beam_size=2, n_best=3), "--n-best 3 is more than there are hypotheses"),
        (Search(beam_size=2, length_penalty=-0.5), "length_penalty -0.5 is negative"),
        (Search(beam_size=2, patience=0.5), "patience 0.5 is too little"),
        (Search(beam_size=9999), "a beam of 9999 .* is wider than the target vocabulary"),
        (Search(beam_size=2, sample=True), "a draw has no beam"),
    ],
)
def test_a_search_that_cannot_be_is_refused(search: Search, words: str) -> None:
    with pytest.raises(UserError, match=words):
        make(search=search)


def test_alternatives_come_best_first_and_each_with_its_text() -> None:
    (translation,) = make(search=Search(beam_size=4, n_best=4)).translate(["the cat sleeps"])
    scores = [alternative.hypothesis.score for alternative in translation.alternatives]
    assert len(scores) == 4
    assert translation.text == translation.alternatives[0].text
    assert len({alternative.text for alternative in translation.alternatives}) > 1


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(2, 500), max_size=80), st.integers(1, 64))
def test_batches_hold_every_sentence_once_and_no_more_than_they_may(
    lengths: list[int], batch_size: int
) -> None:
    found = list(batches(lengths, batch_size))
    flat = [i for batch in found for i in batch]
    assert sorted(flat) == [i for i, length in enumerate(lengths) if length > 2]
    assert [lengths[i] for i in flat] == sorted(lengths[i] for i in flat)
    for batch in found:
        places = len(batch) * max(lengths[i] for i in batch)
        assert len(batch) == 1 or (len(batch) <= batch_size and places <= 64 * batch_size)
        assert len(batch) <= ENOUGH or lengths[batch[-1]] <= LONGER * lengths[batch[0]]
