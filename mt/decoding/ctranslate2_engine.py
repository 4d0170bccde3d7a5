"""CTranslate2Engine: search by CTranslate2 over an exported model; torch is never imported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import ctranslate2

from mt.decoding.engine import Attention, Hypothesis, Search
from mt.errors import UserError
from mt.storage.model_folder import ModelFolder
from mt.text.tokenizer import EOS, EOS_ID, PAD_ID, SOS_ID, Tokenizer

if TYPE_CHECKING:
    from mt.data.ragged import Ids

Tokens = list[str]


class CTranslate2Engine:
    """A model that `mt export --format ctranslate2` wrote.

    Two things are not as with torch. An alignment is of the last decoder layer alone, the mean
    over its heads. And a sample is repeated only by the same batches, from the first one on.
    """

    def __init__(self, folder: ModelFolder, src: Tokenizer, tgt: Tokenizer, device: str) -> None:
        """`device` is auto, cpu, cuda or cuda:N. Raises UserError: device or model not usable."""
        self._path = folder.path
        self._src = list(src.vocabulary)
        self._tgt = list(tgt.vocabulary)
        self._ids = {token: i for i, token in enumerate(self._tgt)}
        self._device = _device(device)
        self._seed: int | None = None
        self._translator = self._open()

    def search(
        self,
        framed: Sequence[Ids],
        max_lengths: Sequence[int],
        prefixes: Sequence[Sequence[int]],
        search: Search,
    ) -> list[list[Hypothesis]]:
        """As `Engine.search`."""
        if search.sample and search.seed != self._seed:
            # Its random numbers begin anew in new threads alone.
            ctranslate2.set_random_seed(search.seed)
            self._translator, self._seed = self._open(), search.seed
        sources = [[self._src[i] for i in ids] for ids in framed]
        starts = [[self._tgt[i] for i in prefix] for prefix in prefixes]
        everything = range(len(framed))
        results: dict[int, Any] = {}
        if search.beam_size == 1 or not search.distinct_first:
            results = self._run(everything, max(max_lengths), sources, starts, search)
        for length, chosen in _again(results, max_lengths, search):
            results.update(self._run(chosen, length, sources, starts, search))
        found = [
            _ranked(self._hypotheses(results[n], max_lengths[n], search))[: search.n_best]
            for n in everything
        ]
        if search.scored:
            self._score(found, sources, search)
            found = list(map(_ranked, found))
        return found

    def _run(
        self,
        chosen: Sequence[int],
        length: int,
        sources: Sequence[Tokens],
        starts: Sequence[Tokens],
        search: Search,
    ) -> dict[int, Any]:
        """What CTranslate2 finds for the chosen ones, none with more than `length` tokens."""
        results = self._translator.translate_batch(
            [sources[n] for n in chosen],
            [starts[n] for n in chosen] if any(starts) else None,
            max_decoding_length=length + 1,
            **self._options(search),
        )
        return dict(zip(chosen, results, strict=True))

    def score(self, framed: Sequence[Ids], targets: Sequence[Ids]) -> list[list[float]]:
        """As `Engine.score`."""
        results = self._translator.score_batch(
            [[self._src[i] for i in ids] for ids in framed],
            [[self._tgt[i] for i in ids[1:-1]] for ids in targets],
            max_input_length=0,
        )
        return [list(result.log_probs) for result in results]

    def attention(self, framed: Ids, target: Ids) -> Attention:
        """Raises UserError: it gives one layer's alone, and no heads."""
        raise UserError(
            "--engine ctranslate2 does not show the attention of each layer and head; choose "
            "--engine torch"
        )

    def _open(self) -> Any:
        try:
            return ctranslate2.Translator(str(self._path), **self._device)
        except (RuntimeError, ValueError) as error:
            raise UserError(
                f"{self._path.absolute()}: CTranslate2 cannot use it ({error}); "
                "run `mt export --format ctranslate2` again"
            ) from None

    def _options(self, search: Search) -> dict[str, Any]:
        never = (PAD_ID, SOS_ID, *search.banned)
        # All of them: which are the best is for our own ranking to say.
        finished = max(search.n_best, search.enough)
        options: dict[str, Any] = {
            "beam_size": search.beam_size,
            "patience": 1.0 if search.beam_size == 1 else search.patience,
            "num_hypotheses": search.n_best if search.distinct_first else finished,
            "length_penalty": _alpha(search),
            "return_alternatives": search.distinct_first,
            "min_decoding_length": max(1, search.min_length),
            "no_repeat_ngram_size": search.no_repeat_ngram,
            "repetition_penalty": search.repetition_penalty,
            "suppress_sequences": [[self._tgt[i]] for i in never],
            "return_attention": search.align,
            "return_end_token": True,
            "return_scores": True,
            "max_input_length": 0,
        }
        if search.sample:
            options |= {
                "sampling_topk": min(search.top_k, len(self._tgt)),
                "sampling_topp": search.top_p,
                "sampling_temperature": search.temperature,
            }
        return options

    def _hypotheses(self, result: Any, max_length: int, search: Search) -> list[Hypothesis]:
        """The hypotheses of one sentence, with scores as the search saw them."""
        made: dict[tuple[int, ...], Hypothesis] = {}  # what was cut may be the same as another
        for i, tokens in enumerate(result.hypotheses):
            ids = [self._ids[token] for token in tokens]
            cut = ids[-1:] != [EOS_ID] or len(ids) > max_length + 1
            total = result.scores[i] * len(ids) ** _alpha(search)
            hypothesis = Hypothesis(ids[: max_length if cut else -1], total, cut)
            hypothesis.score = total / search.penalty(len(ids))
            if search.align:
                hypothesis.alignment = _looked_at(result.attention[i], len(hypothesis.ids))
            if not cut or tuple(hypothesis.ids) not in made:
                made[tuple(hypothesis.ids)] = hypothesis
        return list(made.values())

    def _score(self, found: list[list[Hypothesis]], sources: list[Tokens], search: Search) -> None:
        """Log-probabilities by the model itself: those of the search are without what is banned."""
        pairs = [(sources[n], hypothesis) for n, made in enumerate(found) for hypothesis in made]
        results = self._translator.score_batch(
            [source for source, _ in pairs],
            [[self._tgt[i] for i in hypothesis.ids] for _, hypothesis in pairs],
            max_input_length=0,
        )
        for (_, hypothesis), result in zip(pairs, results, strict=True):
            gains = list(result.log_probs)[: -1 if hypothesis.cut else None]
            hypothesis.token_log_probabilities = gains
            hypothesis.log_probability = sum(gains)
            if not search.ruled:
                hypothesis.score = hypothesis.log_probability / search.penalty(max(1, len(gains)))


def _alpha(search: Search) -> float:
    """The exponent of the length that CTranslate2 divides by; with 0 it would stop otherwise.

    Its order decides which of more than enough finished hypotheses it gives. Wu et al.'s penalty
    grows as (|Y| + 5)^alpha: at 15 tokens as fast as |Y|^(0.75 alpha).
    """
    factor = {"none": 0.0, "length": 1.0, "gnmt": 0.75}[search.length_normalization]
    return max(search.length_penalty * factor, 1e-6)


def _ranked(hypotheses: list[Hypothesis]) -> list[Hypothesis]:
    """Those that ended first; then the score decides."""
    return sorted(hypotheses, key=lambda hypothesis: (hypothesis.cut, -hypothesis.score))


def _device(name: str) -> dict[str, Any]:
    kind, _, index = name.partition(":")
    if kind == "mps":
        raise UserError("--device mps: CTranslate2 runs on cpu and cuda; choose --engine torch")
    if kind == "cuda" and int(index or 0) >= ctranslate2.get_cuda_device_count():
        raise UserError(f"--device {name}: CTranslate2 finds none; choose --device auto or cpu")
    return {"device": kind, "device_index": int(index or 0)}


def _again(
    results: dict[int, Any], max_lengths: Sequence[int], search: Search
) -> Iterator[tuple[int, list[int]]]:
    """The sentences to search for by themselves, those of one longest length at once.

    CTranslate2 has one longest length for all. A sentence of which enough hypotheses ended within
    its own has its best: what goes on there would be cut, and be ranked after them. Of
    alternatives it gives the best after each first token alone, which does not show what the others
    came to. Without beams a translation that is to be shorter is the beginning of a longer one.
    """
    if search.beam_size == 1:
        return

    def ended(n: int) -> int:
        made = results[n].hypotheses
        return sum(len(tokens) <= max_lengths[n] + 1 and tokens[-1] == EOS for tokens in made)

    again: dict[int, list[int]] = {}
    for n, own in enumerate(max_lengths):
        if n not in results or (own < max(max_lengths) and ended(n) < search.n_best):
            again.setdefault(own, []).append(n)
    yield from again.items()


def _looked_at(attention: Sequence[Sequence[float]], tokens: int) -> list[int]:
    """For each of so many tokens the source place, SOS being 0, that it looked at most.

    Only places that hold a word count, not SOS and EOS.
    """
    return [max(range(1, len(row) - 1), key=row.__getitem__) for row in attention[:tokens]]
