"""The corpus: where pairs are from, how they are cleaned and split."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError

from mt.complaints import in_words
from mt.config.kinds import Language, Mistake, Positive, Section


class CleaningConfig(Section):
    """Which pairs are left out of training; blank sides always are. Each rule counts what it drops.

    Text is always normalised the same way in training and translation: that is no setting.
    Validation and test files of their own are taken whole: only unreadable and blank rows go.
    """

    max_characters: Positive | None = Field(
        default=5000, description="longest side, in characters; null for no limit"
    )
    max_ratio: float | None = Field(
        default=6.0,
        gt=1,
        description="how many times longer, in characters, one side may be than the other "
        "(60 characters of difference are always allowed); null for no limit",
    )
    identical: bool = Field(
        default=True,
        description="drop untranslated pairs: both sides the same, in six words or more",
    )
    wrong_script: bool = Field(
        default=True,
        description="drop pairs with a side mostly in letters that its language is not written in; "
        "off for languages not in the table of mt/text/scripts.py",
    )
    broken_characters: bool = Field(
        default=True, description="drop pairs with U+FFFD, the mark of a letter that was lost"
    )
    duplicates: bool = Field(
        default=True, description="drop repetitions of a pair: same source and same target text"
    )
    leaks: bool = Field(
        default=False,
        description="drop training pairs whose source text is also in a given valid or test file; "
        "they are counted in the leak report either way",
    )


class SourceConfig(Section):
    """One of several corpora."""

    source: str | None = Field(default=None, description="as data.source")
    src_file: str | None = Field(
        default=None, description="instead of source: source text, a sentence a line"
    )
    tgt_file: str | None = Field(default=None, description="its translation, line for line")
    subset: str | None = Field(default=None, description="as data.subset; that one if not given")
    revision: str | None = Field(default=None, description="as data.revision, for this source")
    weight: float = Field(
        default=1.0,
        gt=0,
        le=1000,
        description="how many times its training pairs are taken: 2 takes each twice, 0.5 takes "
        "half of them, chosen by content",
    )

    def mistakes(self) -> Iterator[Mistake]:
        if (self.src_file is None) != (self.tgt_file is None):
            given, other = ("src", "tgt") if self.tgt_file is None else ("tgt", "src")
            yield (f"{given}_file", f"{other}_file"), f"needs {other}_file beside it"
        elif (self.source is None) == (self.src_file is None):
            yield ("source", "src_file"), "or else src_file with tgt_file must be given"


def _sources(value: Any) -> Any:
    """The items of a list of corpora, checked one by one: a union's own messages mislead."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not value:
        raise ValueError("expected a name, or a list of names and {source: ..., weight: ...}")
    return [_source_item(f"item {number}", item) for number, item in enumerate(value, 1)]


def _source_item(where: str, item: Any) -> Any:
    if isinstance(item, str | SourceConfig):
        return item
    if not isinstance(item, dict):
        raise ValueError(f"{where}: expected a name or {{source: ..., weight: ...}}")
    known = list(SourceConfig.model_fields)
    for key in item:
        if key not in known:
            raise ValueError(f"{where}: {key} is not a key; known here: {', '.join(known)}")
    try:
        found = SourceConfig.model_validate(item)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"{where}: {first['loc'][0]} {in_words(first)}") from None
    for keys, message in found.mistakes():
        raise ValueError(f"{where}: {keys[0]} {message}")
    return found


SourceList = Annotated[list[str | SourceConfig], Field(min_length=1)]
Sources = Annotated[str | SourceList, BeforeValidator(_sources)]


class DataConfig(Section):
    """Where the sentence pairs come from."""

    source: Sources | None = Field(
        default=None,
        description="Hub id, local file, common prefix of two text files, folder, or `phrasebook` "
        "(built in); or a list of them, each a name or {source: ..., weight: ...}",
    )
    subset: str | None = Field(
        default=None, description="Hub config name, as en-it; found the other way round too"
    )
    revision: str | None = Field(default=None, description="commit or tag of a Hub data set")
    src: Language = Field(description="source language, as the corpus names it")
    tgt: Language = Field(description="target language, as the corpus names it")
    src_column: str | None = Field(
        default=None, description="column of the source text, if not named after its language"
    )
    tgt_column: str | None = Field(
        default=None, description="column of the target text, if not named after its language"
    )
    train: Sources | None = Field(default=None, description="training files, instead of source")
    valid: Sources | None = Field(
        default=None, description="validation file, taken whole, instead of a split"
    )
    test: Sources | None = Field(
        default=None, description="test file, taken whole, instead of a split"
    )
    valid_size: float = Field(
        default=0.1,
        ge=0,
        description="share of the pairs (under 1) or their number (1 and more); not used where the "
        "corpus has a validation split of its own",
    )
    test_size: float = Field(default=0.0, ge=0, description="the same for the test split")
    group_by: str | None = Field(
        default=None,
        description="column that names the document or book of a pair: none is in two splits",
    )
    max_length: int = Field(
        default=350,
        ge=3,
        description="tokens a side, SOS and EOS included; longer pairs are left out",
    )
    cleaning: CleaningConfig = Field(
        default=CleaningConfig(), description="which pairs are left out"
    )

    def mistakes(self) -> Iterator[Mistake]:
        if self.src == self.tgt:
            yield ("tgt", "src"), f"is the same as data.src ({self.src}); translation needs two"
        if self.source is None and self.train is None:
            yield ("source",), "is missing: a Hub id, a file, or phrasebook (the built-in corpus)"
        if self.source is not None and self.train is not None:
            yield ("train", "source"), "and data.source are both given; keep one of them"
        if (self.src_column is None) != (self.tgt_column is None):
            given, other = ("src", "tgt") if self.tgt_column is None else ("tgt", "src")
            yield (f"{given}_column", f"{other}_column"), f"needs data.{other}_column beside it"
        for key in ("valid_size", "test_size"):
            size = getattr(self, key)
            if size > 1 and size != int(size):
                yield (key,), f"({size}) must be a fraction under 1 or a whole number of pairs"
        fractions = [s for s in (self.valid_size, self.test_size) if s < 1]
        if sum(fractions) >= 1:
            yield (
                ("test_size", "valid_size"),
                f"and data.valid_size together ({sum(fractions):g}) leave nothing to train on",
            )
