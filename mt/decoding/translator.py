"""Translator: strings to strings, through an engine and the tokenizers that belong to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from mt.config import Config
from mt.data.frame import FRAME, frame
from mt.data.ragged import Ids
from mt.decoding.engine import Engine, Hypothesis, Search
from mt.errors import UserError
from mt.text.cleaning import normalize
from mt.text.tokenizer import UNK_ID, Tokenizer
from mt.text.words import repeats_itself

# What stands for a target word that the model has no word for: a mark; the source word that it
# looked at most; or the likeliest word that it does have.
Unknown = Literal["mark", "copy", "ban"]
USUAL_LENGTH = 64  # source tokens; a batch of longer sentences holds fewer of them


@dataclass
class Alternative:
    """One translation of a sentence, and how it came about."""

    text: str
    hypothesis: Hypothesis  # ids, log-probabilities, score, alignment
    # Source words that stand in the text as they were, for want of a word in the vocabulary.
    copied: list[str] = field(default_factory=list)
    marked: int = 0  # places in the text where a mark stands for a word
    repeated: bool = False  # it says the same again and again, and its source does not


@dataclass
class Translation:
    """What became of one sentence."""

    source: str
    unknown: list[str] = field(default_factory=list)  # source words that the model does not know
    source_tokens: int = 0
    source_limit: int | None = None  # the source was longer, and only so many tokens were read
    alternatives: list[Alternative] = field(default_factory=list)  # the best first; none if blank

    @property
    def text(self) -> str:
        """The best translation; that of a blank sentence is blank."""
        return self.alternatives[0].text if self.alternatives else ""

    @property
    def log_probability(self) -> float:
        """Of the best: of its tokens and EOS, natural logarithm."""
        return self.alternatives[0].hypothesis.log_probability if self.alternatives else 0.0

    @property
    def cut(self) -> bool:
        """Whether the best reached the longest allowed length."""
        return bool(self.alternatives) and self.alternatives[0].hypothesis.cut

    @property
    def repeated(self) -> bool:
        """Whether the best says the same again and again."""
        return bool(self.alternatives) and self.alternatives[0].repeated

    @property
    def copied(self) -> list[str]:
        """Source words that stand in the best as they were."""
        return self.alternatives[0].copied if self.alternatives else []

    @property
    def marked(self) -> int:
        """Places in the best where a mark stands for a word."""
        return self.alternatives[0].marked if self.alternatives else 0


class Translator:
    """Translates sentences in batches; each gets the same translation in any batch.

    `search` is how the config says, unless it is given.
    """

    def __init__(
        self,
        engine: Engine,
        src: Tokenizer,
        tgt: Tokenizer,
        config: Config,
        unknown: Unknown = "copy",
        search: Search | None = None,
    ) -> None:
        self.engine = engine
        self.src = src
        self.tgt = tgt
        self.unknown = unknown
        self.search = search or Search.of(config.decoding)
        self.search.check(tgt.vocab_size)
        self.source_limit = config.data.max_length - FRAME
        self.target_limit = config.data.max_length - FRAME

    def translate(
        self, sentences: Sequence[str], batch_size: int = 64, prefix: str = ""
    ) -> list[Translation]:
        """The translations of `sentences`, in their order; a blank one gives a blank one.

        Each begins with the words of `prefix`. Raises UserError if the model cannot say them.
        """
        translations = [Translation(source=sentence) for sentence in sentences]
        framed = [self._read(translation) for translation in translations]
        begin = self._prefix(prefix)
        for chosen in batches(list(map(len, framed)), batch_size):
            found = self._search([framed[i] for i in chosen], begin)
            for i, hypotheses in zip(chosen, found, strict=True):
                source = translations[i].source
                translations[i].alternatives = [self._write(source, h) for h in hypotheses]
        return translations

    def _read(self, translation: Translation) -> Ids:
        """The framed ids of a source, noting what the model cannot see of it."""
        text = normalize(translation.source)
        ids = self.src.encode(text)
        translation.source_tokens = len(ids)
        translation.unknown = self.src.unknown(text)
        if len(ids) > self.source_limit:
            translation.source_limit = self.source_limit
        return frame(ids[: self.source_limit])

    def _prefix(self, text: str) -> list[int]:
        text = normalize(text)
        ids = self.tgt.encode(text)
        if len(ids) > self.target_limit:
            raise UserError(
                f"the prefix has {len(ids)} tokens, over the model's limit of {self.target_limit}"
            )
        if UNK_ID in ids:
            words = ", ".join(self.tgt.unknown(text))
            raise UserError(f"the prefix has words that the model does not know: {words}")
        return ids

    def _search(self, framed: list[Ids], prefix: list[int]) -> list[list[Hypothesis]]:
        search = replace(
            self.search,
            banned=(*self.search.banned, *([UNK_ID] if self.unknown == "ban" else [])),
            align=self.search.align or (self.unknown == "copy" and self.tgt.kind == "word"),
        )
        longest = [search.max_length(len(ids) - FRAME, self.target_limit) for ids in framed]
        longest = [max(length, len(prefix)) for length in longest]
        return self.engine.search(framed, longest, [prefix] * len(framed), search)

    def _write(self, source: str, hypothesis: Hypothesis) -> Alternative:
        copied = []
        if self.unknown == "copy" and hypothesis.alignment:
            copied = self._copied(source, hypothesis)
        text = self.tgt.decode(hypothesis.ids, copied)
        # A line break in the middle would shift all later lines of the output.
        text = " ".join(text.splitlines()).strip()
        marked = hypothesis.ids.count(UNK_ID) - len(copied)
        return Alternative(text, hypothesis, copied, marked, self._repeats(source, hypothesis))

    def _repeats(self, source: str, hypothesis: Hypothesis) -> bool:
        if not repeats_itself(hypothesis.ids):
            return False
        return not repeats_itself(self.src.encode(normalize(source)))

    def _copied(self, source: str, hypothesis: Hypothesis) -> list[str]:
        """For each unknown word of a translation, the source word that it looked at most."""
        words = self.src.tokens(normalize(source))
        places = zip(hypothesis.ids, hypothesis.alignment, strict=True)
        return [words[place - 1] for i, place in places if i == UNK_ID]


def batches(lengths: Sequence[int], batch_size: int) -> Iterator[list[int]]:
    """Places in `lengths` of framed sources, those of about one length in a batch.

    A batch has `batch_size` sentences at most, and so many times `USUAL_LENGTH` tokens, padding
    counted, unless a sentence alone has more. Blank sentences are left out: they need no search.
    """
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if lengths[i] <= FRAME:
            continue
        room = min(batch_size, batch_size * USUAL_LENGTH // lengths[i])
        if batch and len(batch) >= room:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch
