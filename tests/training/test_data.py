"""What training reads: tokenizers found again, and never those of other text or settings."""

from __future__ import annotations

from pathlib import Path

import datasets
import pytest

from mt.config import Config
from mt.config_file import config_from_dict
from mt.training import data as module
from mt.training.data import train_tokenizers
from tests.conftest import toy_config, toy_pairs


def config(**changes: object) -> Config:
    return config_from_dict(toy_config(**changes), "test")


def split(folder: Path, count: int) -> datasets.Dataset:
    pairs = toy_pairs(count)
    rows = {"src": [a for a, _ in pairs], "tgt": [b for _, b in pairs]}
    datasets.Dataset.from_dict(rows).save_to_disk(str(folder))
    return datasets.load_from_disk(str(folder))


@pytest.fixture
def trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """An empty cache; and the tokenizer kinds that were trained so far, not found again."""
    monkeypatch.setattr(module, "cache_folder", lambda: tmp_path / "cache" / "corpora")
    calls: list[str] = []
    train = module._train_tokenizers

    def counted(settings: Config, text: datasets.Dataset) -> object:
        calls.append(settings.tokenizer.kind)
        return train(settings, text)

    monkeypatch.setattr(module, "_train_tokenizers", counted)
    return calls


@pytest.mark.parametrize("kind", ["word", "bpe"])
def test_found_again_for_the_same_text_and_settings(
    kind: str, tmp_path: Path, trained: list[str]
) -> None:
    settings = config(tokenizer__kind=kind, tokenizer__vocab_size=400)
    text = split(tmp_path / "text", 60)
    first = train_tokenizers(settings, text)
    again = train_tokenizers(settings, text)
    assert trained == [kind]
    assert [t.to_json() for t in again] == [t.to_json() for t in first]
    assert [t.language for t in again] == ["en", "it"]


def test_trained_anew_for_other_text_or_settings(tmp_path: Path, trained: list[str]) -> None:
    text = split(tmp_path / "text", 60)
    train_tokenizers(config(), text)
    for settings in (
        config(tokenizer__min_frequency=3),
        config(tokenizer__casing="lower"),
        config(tokenizer__vocab_size=20),
    ):
        before = len(trained)
        train_tokenizers(settings, text)
        assert len(trained) == before + 1
    smaller = split(tmp_path / "smaller", 5)
    assert train_tokenizers(config(), smaller)[0].vocab_size < 20
    # Dropout does not change the vocabulary.
    train_tokenizers(config(tokenizer__kind="bpe", tokenizer__vocab_size=400), text)
    before = len(trained)
    train_tokenizers(
        config(tokenizer__kind="bpe", tokenizer__vocab_size=400, tokenizer__bpe_dropout=0.1), text
    )
    assert len(trained) == before


def test_damaged_ones_are_made_again(tmp_path: Path, trained: list[str]) -> None:
    text = split(tmp_path / "text", 60)
    first = train_tokenizers(config(), text)
    (file,) = (tmp_path / "cache" / "mt-tokenizers").glob("*/tokenizer_it.json")
    file.write_text(file.read_text()[:100])
    assert train_tokenizers(config(), text)[1].to_json() == first[1].to_json()
    assert len(trained) == 2


def test_subwords_of_a_large_corpus_are_learnt_from_lines_spread_over_it(
    tmp_path: Path, trained: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = {"src": [f"w{i}" for i in range(90)], "tgt": [f"p{i}" for i in range(90)]}
    datasets.Dataset.from_dict(rows).save_to_disk(str(tmp_path / "text"))
    text = datasets.load_from_disk(str(tmp_path / "text"))
    monkeypatch.setattr(module, "MOST_LINES", 40)
    seen: dict[str, list[str]] = {}
    train = module.Tokenizer.train

    def watch(lines: object, language: str, *rest: object) -> object:
        seen[language] = list(lines)  # type: ignore[call-overload]
        return train(seen[language], language, *rest)

    monkeypatch.setattr(module.Tokenizer, "train", watch)
    train_tokenizers(config(tokenizer__kind="bpe", tokenizer__vocab_size=400), text)
    assert seen == {"en": rows["src"][::3], "it": rows["tgt"][::3]}
    train_tokenizers(config(), text)
    assert seen == {"en": rows["src"], "it": rows["tgt"]}


def test_one_vocabulary_for_both_languages(tmp_path: Path, trained: list[str]) -> None:
    settings = config(tokenizer__kind="bpe", tokenizer__vocab_size=400, tokenizer__shared=True)
    src, tgt = train_tokenizers(settings, split(tmp_path / "text", 60))
    assert src.vocab_size == tgt.vocab_size
    assert src.encode("the cat il gatto") == tgt.encode("the cat il gatto")
