"""What `mt translate` writes of each translation: its text, columns beside it, or a JSON object."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mt.decoding.alternative import Alternative
    from mt.decoding.translator import Translation, Translator

Line = Callable[["Translation"], str]


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """The options that say what is written of a translation."""
    group = parser.add_argument_group("output (default: the translation alone)")
    group.add_argument(
        "--json",
        action="store_true",
        help="a JSON object a line: text, score, tokens and their log-probabilities, alternatives, "
        "alignment, unknown words, whether it was cut, repeats itself, or the source was too long, "
        "and the parts that the source was read in; of several parts, what is told is of all",
    )
    group.add_argument(
        "--scores", action="store_true", help="a TAB and the score, normalised by length"
    )
    group.add_argument(
        "--alignments",
        action="store_true",
        help="a TAB (after the score) and pairs as 0-0 1-2: words of the source, words of the "
        "translation that come from them; counted from 0, words being what spaces part",
    )


def check_output_options(arguments: argparse.Namespace) -> None:
    """Raises UserError for options that do not go together."""
    from mt.errors import UserError

    if arguments.json and (arguments.scores or arguments.alignments):
        raise UserError("--json has scores and alignments already: leave out the other options")
    if (arguments.n_best or 1) > 1 and not arguments.json:
        raise UserError("--n-best needs --json: without it one line in gives one line out")
    if (arguments.alternatives or 1) > 1 and not arguments.json:
        raise UserError("--alternatives needs --json: without it one line in gives one line out")


def line_format(arguments: argparse.Namespace, translator: Translator) -> Line:
    """What makes the line of a translation, without the line end."""
    if arguments.json:
        return lambda translation: json.dumps(
            as_dict(translation, translator), ensure_ascii=False, allow_nan=False
        )
    if arguments.scores or arguments.alignments:
        return lambda translation: _columns(translation, translator, arguments)
    return lambda translation: translation.text


def _columns(
    translation: Translation, translator: Translator, arguments: argparse.Namespace
) -> str:
    best = translation.alternatives[0] if translation.alternatives else None
    columns = [translation.text.replace("\t", " ")]
    if arguments.scores:
        columns.append(f"{best.hypothesis.score if best else 0.0:.4f}")
    if arguments.alignments:
        pairs = _words(translation, best, translator) if best else []
        columns.append(" ".join(f"{i}-{j}" for i, j in pairs))
    return "\t".join(columns)


def as_dict(translation: Translation, translator: Translator) -> dict[str, Any]:
    """All that is known of a translation; a blank one has score 0 and no tokens."""
    from mt.decoding.alignment import source_tokens

    alternatives = [
        _alternative(translation, alternative, translator)
        for alternative in translation.alternatives
    ]
    nothing: dict[str, Any] = {
        "score": 0.0, "log_probability": 0.0, "tokens": [], "token_log_probabilities": [],
        "alignment": {"tokens": [], "words": []}, "cut": False, "repeated": False,
    }  # fmt: skip
    best = alternatives[0] if alternatives else nothing
    return {
        "source": translation.source,
        "translation": translation.text,
        **{name: best[name] for name in nothing},
        "source_tokens": source_tokens(translation, translator.src),
        "source_too_long": translation.source_tokens > translator.source_limit,
        "parts": translation.parts,
        "unknown": translation.unknown,
        "copied": translation.copied,
        "alternatives": alternatives,
    }


def _alternative(
    translation: Translation, alternative: Alternative, translator: Translator
) -> dict[str, Any]:
    """One of the best, with EOS among its tokens: their log-probabilities sum to its own."""
    from mt.decoding.alignment import token_pairs
    from mt.text.tokenizer import EOS

    hypothesis = alternative.hypothesis
    tokens = translator.tgt.pieces(hypothesis.ids)
    return {
        "text": alternative.text,
        "score": hypothesis.score,
        "log_probability": hypothesis.log_probability,
        "tokens": tokens if hypothesis.cut else [*tokens, EOS],
        "token_log_probabilities": hypothesis.token_log_probabilities,
        "alignment": {
            "tokens": token_pairs(alternative),
            "words": _words(translation, alternative, translator),
        },
        "cut": hypothesis.cut,
        "repeated": alternative.repeated,
    }


def _words(
    translation: Translation, alternative: Alternative, translator: Translator
) -> list[tuple[int, int]]:
    from mt.decoding.alignment import word_pairs

    return word_pairs(translation, alternative, translator.src, translator.tgt)
