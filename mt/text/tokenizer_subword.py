"""How text is cut into pieces of words, or at random into others; whole words live elsewhere.

Every text can be written with the pieces: what has none of its own is spelt in bytes. The pieces
carry the spaces, so that joining them gives the text back.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

import tokenizers
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, trainers

BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
# Unicode's spaces and the separators that Python's str.split knows as well.
_SPACES = (
    r"[\x{09}-\x{0D}\x{1C}-\x{20}\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}"
    r"\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}]+"
)
# Digits and marks stand alone, letters keep an apostrophe that is followed by more of them. Since
# brackets stand alone no piece can spell a special token or a byte, whatever the corpus holds.
_PIECES = r" ?[\p{L}\p{M}]+(?:['’](?=\p{L}))?| ?[^ \p{L}\p{M}]| "


def build(
    sentences: Iterable[str], kind: str, vocab_size: int, min_frequency: int, special: list[str]
) -> tokenizers.Tokenizer:
    """A tokenizer of `kind` (bpe or unigram) trained on `sentences`, which are read once.

    The same sentences give the same BPE, byte for byte. Unigram's scores depend on the order in
    which the library walks a hash map, which differs from run to run, by some 1e-4.
    """
    model = models.BPE if kind == "bpe" else models.Unigram
    library = tokenizers.Tokenizer(model())
    library.normalizer = _normalizer()
    library.pre_tokenizer = pre_tokenizers.Split(Regex(_PIECES), "removed", invert=True)
    library.decoder = decoders.Sequence(
        [decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    common: dict[str, Any] = {
        "vocab_size": vocab_size,
        "special_tokens": [*special, *BYTES],
        "show_progress": False,
    }
    if kind == "bpe":
        trainer: Any = trainers.BpeTrainer(min_frequency=min_frequency, **common)
    else:
        trainer = trainers.UnigramTrainer(unk_token=special[0], **common)
    library.train_from_iterator(sentences, trainer)
    return library


def finish(model: dict[str, Any], unknown: str) -> None:
    """Turns on spelling in bytes in a trained `model`, as its JSON has it."""
    model["byte_fallback"] = True
    if model["type"] == "BPE":
        model["unk_token"] = unknown


def _normalizer() -> normalizers.Normalizer:
    return normalizers.Sequence(
        [
            normalizers.NFC(),
            normalizers.Replace(Regex(_SPACES), " "),
            normalizers.Strip(),
            normalizers.Prepend(" "),
        ]
    )


class DroppingMerges:
    """BPE that leaves out merges at random (Provilkov et al. 2020, algorithm 1).

    The library's own dropout takes its chances from a generator that cannot be seeded, so that no
    run could be repeated; this one is a function of the text and the generator given.
    """

    def __init__(self, vocabulary: dict[str, int], merges: Sequence[Sequence[str]]) -> None:
        self._vocabulary = vocabulary
        self._ranks = {(left, right): rank for rank, (left, right) in enumerate(merges)}

    def ids(self, piece: str, dropout: float, chance: random.Random) -> list[int]:
        """Ids of one pre-tokenized `piece`; dropout 0 gives what the library gives."""
        symbols: list[str] = []
        for character in piece:
            known = character in self._vocabulary
            symbols += [character] if known else [BYTES[b] for b in character.encode()]
        while (at := self._next_merge(symbols, dropout, chance)) is not None:
            symbols[at : at + 2] = [symbols[at] + symbols[at + 1]]
        return [self._vocabulary[symbol] for symbol in symbols]

    def _next_merge(
        self, symbols: Sequence[str], dropout: float, chance: random.Random
    ) -> int | None:
        """Where the best merge is that was not left out, the leftmost of equals."""
        best: tuple[int, int] | None = None
        for at in range(len(symbols) - 1):
            rank = self._ranks.get((symbols[at], symbols[at + 1]))
            if rank is None or (dropout and chance.random() < dropout):
                continue
            if best is None or (rank, at) < best:
                best = (rank, at)
        return None if best is None else best[1]
