"""Translator: strings to strings, through an engine and the tokenizers that belong to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from mt.data.frame import FRAME, frame
from mt.decoding.alternative import Alternative
from mt.decoding.engine import Engine, Hypothesis, Search
from mt.decoding.parts import Part, joined
from mt.errors import UserError
from mt.text.cleaning import normalize
from mt.text.sentences import fit, space_between
from mt.text.sentences import sentences as split_sentences
from mt.text.tokenizer import UNK_ID, Tokenizer
from mt.text.words import repeats_itself

if TYPE_CHECKING:
    from mt.config import Config

# What stands for a target word that the model has no word for: a mark; the source word that it
# looked at most; or the likeliest word that it does have.
Unknown = Literal["mark", "copy", "ban"]
USUAL_LENGTH = 64  # source tokens; a batch of longer sentences holds fewer of them
# From so many sentences on, a batch ends where the next is so many times its shortest: more
# sentences would gain less than the padding of all these costs.
ENOUGH, LONGER = 32, 1.6


@dataclass
class Translation:
    """What became of one sentence."""

    source: str
    unknown: list[str] = field(default_factory=list)  # source words that the model does not know
    source_tokens: int = 0
    # Normalised, what the model read at once: more than one text where a source is over its limit,
    # or where sentences are translated one by one; none if blank.
    parts: list[str] = field(default_factory=list)
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

    `search` is how the config says, unless it is given. A source that is over the model's limit is
    translated in parts, which end where sentences do, if they may; with `paragraphs` every
    sentence of every source is a part.
    """

    def __init__(
        self,
        engine: Engine,
        src: Tokenizer,
        tgt: Tokenizer,
        config: Config,
        unknown: Unknown = "copy",
        search: Search | None = None,
        paragraphs: bool = False,
    ) -> None:
        self.engine = engine
        self.src = src
        self.tgt = tgt
        self.config = config
        self.unknown = unknown
        self.paragraphs = paragraphs
        self.search = search or Search.of(config.decoding)
        self.search.check(tgt.vocab_size)
        self.source_limit = config.data.max_length - FRAME
        self.target_limit = config.data.max_length - FRAME
        self._space = space_between(tgt.language)

    def with_search(self, search: Search) -> Translator:
        """The same model with another search. Raises UserError if it does not fit."""
        search.check(self.tgt.vocab_size)
        other = copy(self)
        other.search = search
        return other

    def translate(
        self, sentences: Sequence[str], batch_size: int = 64, prefix: str = ""
    ) -> list[Translation]:
        """The translations of `sentences`, in their order; a blank one gives a blank one.

        Each begins with the words of `prefix`. Raises UserError if the model cannot say them.
        """
        return list(self.stream(sentences, batch_size, prefix))

    def stream(
        self, sentences: Sequence[str], batch_size: int = 64, prefix: str = ""
    ) -> Iterator[Translation]:
        """As `translate`, each as soon as it and those before it are done."""
        begin = self._prefix(prefix)
        translations = [Translation(source=sentence) for sentence in sentences]
        texts = list(map(normalize, sentences))
        encoded = self.src.encode_batch(texts)
        read = [
            self._read(n, translations[n], text, ids, begin)
            for n, (text, ids) in enumerate(zip(texts, encoded, strict=True))
        ]
        parts = [part for of_one in read for part in of_one]
        missing = list(map(len, read))
        given = 0
        for chosen in batches([len(part.framed) for part in parts], batch_size):
            self._search([parts[i] for i in chosen])
            for i in chosen:
                missing[parts[i].sentence] -= 1
            while given < len(read) and not missing[given]:
                yield self._finished(translations[given], read[given])
                given += 1
        yield from translations[given:]  # blank ones at the end

    def _finished(self, translation: Translation, parts: Sequence[Part]) -> Translation:
        if parts:
            translation.alternatives = joined(parts, self._space, self.search)
        return translation

    def _read(
        self, number: int, translation: Translation, text: str, ids: list[int], prefix: list[int]
    ) -> list[Part]:
        """The parts of a source, given normalised and as ids; notes what is unknown of it."""
        translation.source_tokens = len(ids)
        translation.unknown = self.src.unknown(text) if UNK_ID in ids else []
        parts: list[Part] = []
        for piece in self._pieces(text, len(ids)):
            own = ids if piece == text else self.src.encode(piece)
            if len(own):
                translation.parts.append(piece)
            # A character of more tokens than the limit is all that can be longer than one turn.
            for at in range(0, len(own), self.source_limit):
                framed = frame(own[at : at + self.source_limit])
                parts.append(Part(number, piece, framed, [] if parts else prefix))
        return parts

    def _pieces(self, text: str, tokens: int) -> list[str]:
        if tokens <= self.source_limit and not self.paragraphs:
            return [text]

        def count(piece: str) -> int:
            return len(self.src.encode(piece))

        whole = split_sentences(text) if self.paragraphs else [text]
        return [piece for sentence in whole for piece in fit(sentence, self.source_limit, count)]

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

    def _search(self, parts: Sequence[Part]) -> None:
        """Gives each part its translations."""
        search = replace(
            self.search,
            banned=(*self.search.banned, *([UNK_ID] if self.unknown == "ban" else [])),
            align=self.search.align or (self.unknown == "copy" and self.tgt.kind == "word"),
        )
        longest = [
            max(search.max_length(len(part.framed) - FRAME, self.target_limit), len(part.prefix))
            for part in parts
        ]
        framed, prefixes = [part.framed for part in parts], [part.prefix for part in parts]
        found = self.engine.search(framed, longest, prefixes, search)
        for part, hypotheses in zip(parts, found, strict=True):
            part.alternatives = [self._write(part.text, h) for h in hypotheses]

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
        return not repeats_itself(self.src.encode(source))

    def _copied(self, source: str, hypothesis: Hypothesis) -> list[str]:
        """For each unknown word of a translation, the source word that it looked at most."""
        words = self.src.tokens(source)
        places = zip(hypothesis.ids, hypothesis.alignment, strict=True)
        return [words[place - 1] for i, place in places if i == UNK_ID]


def batches(lengths: Sequence[int], batch_size: int) -> Iterator[list[int]]:
    """Places in `lengths` of framed sources, those of about one length in a batch.

    A batch has `batch_size` sentences at most, and so many times `USUAL_LENGTH` tokens, padding
    counted, unless a sentence alone has more; one that is large enough has little padding. Blank
    sentences are left out: they need no search.
    """
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if lengths[i] <= FRAME:
            continue
        room = min(batch_size, batch_size * USUAL_LENGTH // lengths[i])
        padded = len(batch) >= ENOUGH and lengths[i] > LONGER * lengths[batch[0]]
        if batch and (len(batch) >= room or padded):
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch
