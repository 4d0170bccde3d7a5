"""The models that are served, by the languages they are for, and what is asked of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from mt.data.frame import FRAME
from mt.decoding.attention import AttentionMaps, attention_maps
from mt.decoding.engine import Search
from mt.decoding.translator import Translation, Translator
from mt.errors import UserError
from mt.text.cleaning import normalize
from mt.text.sentences import space_between
from mt.text.tokenizer import Tokenizer


@dataclass(frozen=True, eq=False)
class ServedModel:
    """One model, by its name, on the engine of that name."""

    name: str
    engine: str
    translator: Translator
    whole_lines: bool = False  # a line is translated at once, not sentence by sentence

    @property
    def source(self) -> str:
        """The code of the language it reads."""
        return self.translator.src.language

    @property
    def target(self) -> str:
        """The code of the language it writes."""
        return self.translator.tgt.language

    @property
    def space(self) -> str:
        """What stands between two sentences of the target language."""
        return space_between(self.target)

    @property
    def draws_attention(self) -> bool:
        """Whether its engine can tell where each head looked."""
        return self.engine == "torch"

    @property
    def finds_alternatives(self) -> bool:
        """Whether its engine finds more than one translation."""
        return self.engine != "onnx"

    @property
    def layers(self) -> int:
        """Of the decoder."""
        model = self.translator.config.model
        return model.decoder_layers or model.num_layers

    @property
    def heads(self) -> int:
        """Of each layer."""
        return self.translator.config.model.num_heads

    def cost(self, sentence: str) -> int:
        """Tokens of a sentence, SOS and EOS among them."""
        return len(self.translator.src.encode(normalize(sentence))) + FRAME


@dataclass(frozen=True)
class Translating:
    """Translations of sentences, each with so many alternatives, if there are as many."""

    model: ServedModel
    alternatives: int = 0
    align: bool = False

    def do(self, items: list[str]) -> list[Translation]:
        """For each sentence its translation: the ordinary best, then others of other texts.

        The best is what it is without alternatives: a wider search for those does not change it.
        """
        ordinary = self.model.translator
        search = replace(ordinary.search, n_best=1, align=ordinary.search.align or self.align)
        wide = self._wide(search)
        if wide == search or wide.beam_size == search.beam_size:
            found = ordinary.with_search(wide).translate(items)
            return [_distinct(one, one, self.alternatives) for one in found]
        best = ordinary.with_search(search).translate(items)
        more = ordinary.with_search(wide).translate(items)
        pairs = zip(best, more, strict=True)
        return [_distinct(one, other, self.alternatives) for one, other in pairs]

    def _wide(self, search: Search) -> Search:
        if not self.alternatives:
            return search
        count = min(self.alternatives + 1, self.model.translator.tgt.vocab_size)
        if search.sample:
            return replace(search, n_best=count)
        return replace(search, n_best=count, beam_size=max(search.beam_size, count))


def _distinct(best: Translation, more: Translation, count: int) -> Translation:
    """`best` with up to `count` alternatives from `more`, no text twice."""
    if best.alternatives:
        kept = {best.text: best.alternatives[0]}
        for alternative in more.alternatives:
            if alternative.text:
                kept.setdefault(alternative.text, alternative)
        best.alternatives = list(kept.values())[: count + 1]
    return best


@dataclass(frozen=True)
class Looking:
    """Where a model looks as it translates a sentence."""

    model: ServedModel

    def do(self, items: list[str]) -> list[AttentionMaps]:
        """The maps of each sentence. Raises UserError if it has none."""
        return [self._maps(item) for item in items]

    def _maps(self, sentence: str) -> AttentionMaps:
        translator = self.model.translator
        translation = translator.translate([sentence])[0]
        if not translation.alternatives:
            raise UserError("the sentence is blank: there is nothing to draw")
        if len(translation.parts) > 1:
            raise UserError(
                f"the sentence has {translation.source_tokens} tokens, over the model's limit of "
                f"{translator.source_limit}: it was translated in {len(translation.parts)} parts, "
                "and no map is of all of them"
            )
        return attention_maps(translator, translation)


class Models:
    """All models of a server, no two of them for the same pair of languages."""

    def __init__(self, models: Sequence[ServedModel]) -> None:
        """Raises UserError if two are for one pair."""
        self._models: dict[tuple[str, str], ServedModel] = {}
        for model in models:
            pair = model.source, model.target
            if pair in self._models:
                raise UserError(
                    f"{self._models[pair].name} and {model.name} both translate {model.source} to "
                    f"{model.target}; serve one of them, or the other at another --port"
                )
            self._models[pair] = model

    def __iter__(self) -> Iterator[ServedModel]:
        return iter(self._models.values())

    def find(self, source: str, target: str) -> ServedModel | None:
        """The model for a pair of languages."""
        return self._models.get((source, target))

    @property
    def sources(self) -> list[str]:
        """The languages that can be read, each once."""
        return list(dict.fromkeys(source for source, _ in self._models))

    @property
    def languages(self) -> list[str]:
        """All languages, those that can be read first."""
        return list(dict.fromkeys([*self.sources, *(target for _, target in self._models)]))

    def targets(self, source: str) -> list[str]:
        """The languages that one can be translated to."""
        return [target for first, target in self._models if first == source]

    @cached_property
    def tokenizers(self) -> dict[str, Tokenizer]:
        """One of each language, by its code, in the order of `languages`."""
        found: dict[str, Tokenizer] = {}
        for model in self._models.values():
            found.setdefault(model.source, model.translator.src)
        for model in self._models.values():
            found.setdefault(model.target, model.translator.tgt)
        return found
