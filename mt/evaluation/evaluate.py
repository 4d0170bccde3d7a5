"""What to evaluate on: a split that a model was not trained on, or text of one's own."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mt.config import Config
from mt.errors import UserError
from mt.storage.model_folder import ModelFolder
from mt.text.corpus import Corpus, load_corpus
from mt.text.hub import not_from_the_hub
from mt.wording import counted

_LINE_BREAK = re.compile("\r\n?|\n")


@dataclass(frozen=True)
class TestSet:
    """N sources, and the references for them, untouched but that each is one line."""

    name: str
    sources: Sequence[str]  # none where translations are scored that are there already
    references: Sequence[str]
    others: Sequence[Sequence[str]] = ()  # more references, N each
    documents: Sequence[str] = ()  # N, the document that each sentence is of; or none

    __test__ = False  # pytest: this is not a test

    def __post_init__(self) -> None:
        for side in ("sources", "references"):
            object.__setattr__(self, side, one_line_each(getattr(self, side)))
        object.__setattr__(self, "others", [one_line_each(side) for side in self.others])

    @property
    def streams(self) -> list[Sequence[str]]:
        """All references: as many sequences of N as there are of each sentence."""
        return [self.references, *self.others]


def one_line_each(texts: Sequence[str]) -> list[str]:
    """`texts` with spaces for line breaks."""
    return [_LINE_BREAK.sub(" ", text) for text in texts]


def held_out(folder: ModelFolder, config: Config, split: str | None) -> TestSet:
    """A split that the model was not trained on: `split`, or test, or valid if there is no test.

    Raises `UserError` when it is empty, or the corpus is no longer what the model was trained on.
    """
    return split_of(corpus_of(folder, config), folder, split)


def corpus_of(folder: ModelFolder, config: Config) -> Corpus:
    """What the model was trained on. Raises `UserError` if that is no longer there."""
    corpus = load_corpus(config.data)
    check_same_split(corpus, folder)
    return corpus


def corpus_at_hand(folder: ModelFolder, config: Config) -> Corpus:
    """As `corpus_of`, without fetching anything from the Hub."""
    with not_from_the_hub():
        return corpus_of(folder, config)


def split_of(corpus: Corpus, folder: ModelFolder, split: str | None) -> TestSet:
    """As `held_out`, of the corpus of the model in `folder`."""
    name = split or ("test" if len(corpus.splits["test"]) else "valid")
    rows = corpus.splits[name]
    if not len(rows):
        raise UserError(
            f"the {name} split of {folder.path.absolute()} is empty (data.{name}_size was 0); "
            "choose another with --split, or give files with --src and --ref"
        )
    return first_of(corpus, name, len(rows))


def first_of(corpus: Corpus, split: str, count: int) -> TestSet:
    """The first sentences of a split, which training validates on too.

    Where data.group_by names documents, a sentence without one is its own.
    """
    rows = corpus.splits[split][: min(count, len(corpus.splits[split]))]
    documents = rows["document"]
    if any(name is not None for name in documents):
        places = zip(documents, rows["file"], rows["row"], strict=True)
        documents = [name or f"file {file + 1}, row {row}" for name, file, row in places]
    else:
        documents = []
    return TestSet(split, rows["src"], rows["ref"], documents=documents)


def check_same_split(corpus: Corpus, folder: ModelFolder) -> None:
    """Raises `UserError` unless the splits are those recorded when the model was trained."""
    try:
        began: dict[str, Any] = json.loads(folder.data_file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise UserError(f"{folder.data_file.absolute()} is missing or damaged") from None
    now = corpus.report.as_dict()["splits"]
    changed = [
        f"{name}: {counted(then['pairs'], 'pair')} then, {now[name]['pairs']:,} now"
        for name, then in began["splits"].items()
        if then["hash"] != now[name]["hash"]
    ]
    if changed:
        raise UserError(
            f"the data is not what {folder.path.absolute()} was trained on "
            f"({'; '.join(changed)}); put the old data back, or choose another name "
            "(--restart moves the old run aside and trains anew)"
        )
