"""Hashes of texts, the same in every run and on every machine, and the keys that texts group by."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Hashes: TypeAlias = npt.NDArray[np.uint64]

_NO_LETTERS = bytes(byte for byte in range(128) if not chr(byte).isalpha())


def hash_texts(texts: Iterable[str]) -> Hashes:
    """64 bits of BLAKE2b of each text."""
    digests = [blake2b(text.encode("utf-8"), digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def hash_pairs(src: Hashes, tgt: Hashes) -> Hashes:
    """A hash of each pair, from those of its sides (the finalizer of MurmurHash3)."""
    mixed: Hashes = src * np.uint64(3) + ((tgt << np.uint64(29)) | (tgt >> np.uint64(35)))
    for shift, factor in ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(33))


def near_keys(texts: list[str]) -> list[str]:
    """What texts share that differ only in case, digits, punctuation and spacing.

    A text without letters is its own key but for spacing: in "12" and "13" the digits are the text.
    """
    keys = [_ascii_key(text) if text.isascii() else "" for text in texts]
    others = [number for number, text in enumerate(texts) if not text.isascii()]
    folded = pa.array([texts[number].casefold() for number in others], pa.string())
    letters = pc.replace_substring_regex(folded, r"[^\pL\pM]+", "").to_pylist()
    for number, key in zip(others, letters, strict=True):
        keys[number] = key
    return [key or "".join(text.split()) for key, text in zip(keys, texts, strict=True)]


def _ascii_key(text: str) -> str:
    return text.lower().encode().translate(None, _NO_LETTERS).decode()
