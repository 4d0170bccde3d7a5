"""What training reads: the split corpus, the tokenizers, and both together as datasets of ids."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from itertools import islice

import datasets

from mt.config import Config
from mt.data.dataset import BilingualDataset, ResampledDataset
from mt.data.encode import encode_split
from mt.distributed import ALONE, World
from mt.errors import UserError
from mt.evaluation.evaluate import check_same_split
from mt.progress import track
from mt.storage.atomic import write_text
from mt.storage.model_folder import ModelFolder
from mt.text.corpus import Corpus, cache_folder, load_corpus
from mt.text.stream import sentences
from mt.text.tokenizer import Tokenizer

MOST_LINES = 1_000_000  # a side, that subwords are learnt from: evenly spread over a larger corpus


@dataclass(frozen=True)
class TrainingData:
    """Everything that is read, ready for the Trainer."""

    corpus: Corpus
    src: Tokenizer
    tgt: Tokenizer
    train: BilingualDataset
    valid: BilingualDataset


def load_training_data(
    config: Config, folder: ModelFolder | None = None, world: World = ALONE
) -> TrainingData:
    """Reads the corpus; takes the tokenizers of `folder` where there are any, else trains them.

    Of several processes the first of each machine prepares the data there; the tokenizers are those
    of the very first one, which alone has a `folder`.

    Raises `UserError` when there is nothing to train on, or when the corpus is no longer the one
    that the run in `folder` began with.
    """
    with world.first_of_machine():
        corpus = load_corpus(config.data)
    if not len(corpus.splits["train"]):
        raise UserError("no training pairs are left after reading, cleaning and splitting")
    sides: list[Tokenizer] = []
    if world.is_first:
        sides += _tokenizers(config, corpus, folder)
    texts = world.from_first([(side.to_json(), side.language) for side in sides])
    src, tgt = sides or [Tokenizer(json.loads(text), language) for text, language in texts]
    limit = config.data.max_length
    with world.first_of_machine():
        train = _train_dataset(config, corpus.splits["train"], src, tgt)
        valid = BilingualDataset(encode_split(corpus.splits["valid"], src, tgt), limit)
    if not len(train):
        raise UserError(
            f"every training pair ({len(train.too_long):,}) is longer than data.max_length "
            f"({limit} tokens a side); raise it"
        )
    return TrainingData(corpus, src, tgt, train, valid)


def _tokenizers(
    config: Config, corpus: Corpus, folder: ModelFolder | None
) -> tuple[Tokenizer, Tokenizer]:
    if folder is not None and folder.exists:
        check_same_split(corpus, folder)
        return folder.tokenizers(config)
    return train_tokenizers(config, corpus.splits["train"])


def train_tokenizers(config: Config, train: datasets.Dataset) -> tuple[Tokenizer, Tokenizer]:
    """The tokenizers of the source and of the target, from the training split alone.

    They are kept in the data cache, and found again for the same text and settings.
    """
    languages = config.data.src, config.data.tgt
    folder = cache_folder().parent / "mt-tokenizers" / _key(config, train)
    files = [folder / f"tokenizer_{language}.json" for language in languages]
    try:
        src, tgt = map(Tokenizer.load, files)
    except UserError:  # not there, or damaged
        src, tgt = _train_tokenizers(config, train)
        folder.mkdir(parents=True, exist_ok=True)
        for tokenizer, file in zip((src, tgt), files, strict=True):
            write_text(file, tokenizer.to_json())
    return src, tgt


def _key(config: Config, train: datasets.Dataset) -> str:
    settings = config.tokenizer.model_dump_json(exclude={"bpe_dropout"})
    parts = (train._fingerprint, settings, config.data.src, config.data.tgt)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def _train_tokenizers(config: Config, train: datasets.Dataset) -> tuple[Tokenizer, Tokenizer]:
    languages = config.data.src, config.data.tgt
    each = 1
    if config.tokenizer.kind != "word":  # every word counts for a vocabulary of words
        each = -(-len(train) // MOST_LINES)
    sides = [
        track(
            islice(sentences(train, side), 0, None, each),
            f"vocabulary of {language}",
            len(train) // each,
        )
        for side, language in zip(("src", "tgt"), languages, strict=True)
    ]
    if config.tokenizer.shared:
        return Tokenizer.train_shared(sides[0], sides[1], languages, config.tokenizer)
    src = Tokenizer.train(sides[0], languages[0], config.tokenizer, "src")
    tgt = Tokenizer.train(sides[1], languages[1], config.tokenizer, "tgt")
    return src, tgt


def _train_dataset(
    config: Config, split: datasets.Dataset, src: Tokenizer, tgt: Tokenizer
) -> BilingualDataset:
    encoded, limit = encode_split(split, src, tgt), config.data.max_length
    dropout = config.tokenizer.bpe_dropout
    if not dropout:
        return BilingualDataset(encoded, limit)
    return ResampledDataset(
        encoded, limit, text=split, tokenizers=(src, tgt), dropout=dropout, seed=config.seed
    )
