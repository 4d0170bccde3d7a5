"""Sentences become ids and ids become sentences; neither corpora nor tensors are known here."""

from __future__ import annotations

import json
import random
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tokenizers
from tokenizers import models, trainers

from mt.errors import UserError
from mt.text import tokenizer_file, tokenizer_subword, tokenizer_word
from mt.text.detokenizer import detokenize
from mt.text.tokenizer_casing import Casing, CasingCounter
from mt.text.words import spelt, word_places

if TYPE_CHECKING:
    from mt.config import TokenizerConfig

UNK, PAD, SOS, EOS = SPECIAL = ("[UNK]", "[PAD]", "[SOS]", "[EOS]")
UNK_ID, PAD_ID, SOS_ID, EOS_ID = range(4)
UNKNOWN_MARK = "<unk>"

_KINDS = {"WordLevel": "word", "BPE": "bpe", "Unigram": "unigram"}

# Finds what word-level normalisation may change; all the characters listed here it leaves alone,
# whatever stands next to them. Most lines are normal: to look is faster than to normalise them.
_SETTLED = re.compile(
    r"[^ -~¡-¬®-˿Έ-Ͽ\u0400-\u0482\u048A-\u052F\u1E00-\u1EFF–—‘’“”„…€\u4E00-\u9FFF\uAC00-\uD7A3]"
)


class Tokenizer:
    """The vocabulary of one language and its way from text to ids and back."""

    def __init__(self, data: dict[str, Any], language: str) -> None:
        """`data` is a tokenizer file's content, as `tokenizer_file.read` gives it."""
        self.language = language
        settings = tokenizer_file.settings(data)
        self.casing = Casing.from_dict(settings.get("casing", {}))
        self.kind: str = _KINDS.get(data["model"]["type"], data["model"]["type"])
        self._is_word = self.kind == "word"
        self._marked = "kind" in settings
        self._data = data
        self._library = tokenizers.Tokenizer.from_str(json.dumps(_with_aliases(data)))
        self._normalizer = self._library.normalizer
        if self._is_word:
            self._library.normalizer = None

    @classmethod
    def train(
        cls, sentences: Iterable[str], language: str, config: TokenizerConfig, side: str = "src"
    ) -> Tokenizer:
        """Builds the vocabulary of `sentences`, which are read once and not kept.

        UserError if nothing is left of it, or if it has no room for the characters of the text.
        """
        counter = CasingCounter()
        data = _train(_folded(sentences, counter, config), language, config, side)
        return cls._made(data, language, counter.casing(config.casing, config.min_frequency))

    @classmethod
    def train_shared(
        cls,
        src: Iterable[str],
        tgt: Iterable[str],
        languages: tuple[str, str],
        config: TokenizerConfig,
    ) -> tuple[Tokenizer, Tokenizer]:
        """Two tokenizers with one vocabulary, built of both sides."""
        counters = (CasingCounter(), CasingCounter())
        lines = chain.from_iterable(
            _folded(side, counter, config)
            for side, counter in zip((src, tgt), counters, strict=True)
        )
        text = json.dumps(_train(lines, "+".join(languages), config, "src and tgt"))
        made = [
            cls._made(json.loads(text), language, counter.casing(config.casing, 1))
            for language, counter in zip(languages, counters, strict=True)
        ]
        return made[0], made[1]

    @classmethod
    def load(cls, path: Path, language: str | None = None) -> Tokenizer:
        """Reads what `save` wrote, or another file of the `tokenizers` library.

        The language is `language`, else the one the file holds, else that of its name.
        UserError if it is missing, damaged, or has its special tokens elsewhere than at ids 0-3.
        """
        data = tokenizer_file.read(path)
        stored = tokenizer_file.settings(data).get("language")
        try:
            tokenizer = cls(data, language or stored or tokenizer_file.language_of(path))
        except Exception as error:  # the library raises nothing more precise
            raise tokenizer_file.damaged(path, str(error)) from None
        tokenizer_file.check_special(path, tokenizer._library, SPECIAL)
        return tokenizer

    def save(self, path: Path) -> None:
        """Writes the tokenizer as one JSON file."""
        path.write_text(self.to_json(), encoding="utf-8", newline="\n")

    def to_json(self) -> str:
        """The file's content, byte for byte the same for the same training text."""
        return json.dumps(self._data, ensure_ascii=False, indent=1) + "\n"

    @property
    def vocabulary(self) -> Mapping[str, int]:
        """Each token and its id."""
        return {token: i for i, token in enumerate(self._vocabulary)}

    @property
    def vocab_size(self) -> int:
        """Number of ids, the four special ones included."""
        return len(self._vocabulary)

    def encode(self, text: str, sample: int | None = None, dropout: float = 0.0) -> list[int]:
        """Ids of `text`, without SOS and EOS.

        With `sample`, a number that decides the chances, and `dropout` above 0, a BPE tokenizer
        cuts words in other ways now and then; the same number gives the same cut.
        """
        if sample is None or not dropout:
            return self.encode_batch([text])[0]
        chance = random.Random(sample)
        pieces = self._pieces(self._prepare(text))
        return [i for piece in pieces for i in self._merges.ids(piece, dropout, chance)]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids of each text, computed on all cores."""
        batch = self._library.encode_batch_fast(
            [self._prepare(text) for text in texts], add_special_tokens=False
        )
        return [encoding.ids for encoding in batch]

    def tokens(self, text: str) -> list[str]:
        """The pieces of `text` as they were written; in subwords ▁ stands for a space."""
        if not self._is_word:
            encoding = self._library.encode(self._prepare(text), add_special_tokens=False)
            return [token.replace(" ", "▁") for token in encoding.tokens]
        return [piece.strip(" ") for piece in self._pieces(self._normal(_encodable(text)))]

    def words(self, text: str) -> list[int]:
        """For each of `tokens(text)` the place of its word in the text, as spaces part words.

        The text must be normalised, as by `mt.text.cleaning`.
        """
        text = self._normal(_encodable(text))
        if not self._is_word:
            pieces = [spelt(token) for token in self.tokens(text)]
            return word_places(pieces, "".join(pieces))
        starts = [
            start + (piece[0] == " ")
            for piece, (start, _) in self._library.pre_tokenizer.pre_tokenize_str(text)
        ]
        begun = [i for i, c in enumerate(text) if c != " " and (i == 0 or text[i - 1] == " ")]
        return [bisect_right(begun, start) - 1 for start in starts]

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Each id as its token; in subwords ▁ stands for a space."""
        tokens = [self._vocabulary[i] for i in ids]
        if self._is_word:
            return [token.strip(" ") for token in tokens]
        return [token.replace(" ", "▁") for token in tokens]

    def words_said(self, ids: Sequence[int], unknown: Sequence[str] = ()) -> list[int]:
        """For each id the place of its word in `decode(ids, unknown)`, as spaces part words.

        Of ids without PAD, SOS and EOS.
        """
        if not self._is_word:
            pieces = [spelt(self._vocabulary[i]) for i in ids]
            return word_places(pieces, "".join(pieces))
        words = iter(unknown)
        pieces = [
            self._apart(next(words, UNKNOWN_MARK)) if i == UNK_ID else self._vocabulary[i]
            for i in ids
        ]
        return word_places(pieces, detokenize(pieces, self.language, self._marked))

    def unknown(self, text: str) -> list[str]:
        """The words of `text` that the vocabulary lacks, as written, in order."""
        pairs = zip(self.encode(text), self.tokens(text), strict=False)
        return [token for i, token in pairs if i == UNK_ID]

    def decode(self, ids: Sequence[int], unknown: Sequence[str] | str | None = None) -> str:
        """Readable text: PAD, SOS and EOS left out, each UNK as `UNKNOWN_MARK`.

        `unknown` gives what stands for each UNK in turn (copied words), or one text for all.
        """
        words = iter([] if unknown is None or isinstance(unknown, str) else unknown)
        mark = unknown if isinstance(unknown, str) else UNKNOWN_MARK
        tokens = [
            self._apart(next(words, mark)) if i == UNK_ID else self._vocabulary[i]
            for i in ids
            if i not in (PAD_ID, SOS_ID, EOS_ID)
        ]
        if self._is_word:
            return self.casing.restore(detokenize(tokens, self.language, self._marked))
        decoder = self._library.decoder
        text = decoder.decode(tokens) if decoder else "".join(tokens)
        return self.casing.restore(text)

    def normalised(self, text: str) -> str:
        """`text` as subword kinds give it back: NFC, single spaces, casing folded."""
        return self._normal(self.casing.fold(_encodable(text))).removeprefix(" ")

    @cached_property
    def _vocabulary(self) -> list[str]:
        vocab = self._data["model"]["vocab"]
        if isinstance(vocab, list):  # unigram: [piece, score]
            return [piece for piece, _ in vocab]
        tokens = [""] * (max(vocab.values()) + 1)
        for token, i in vocab.items():
            tokens[i] = token
        return tokens

    @cached_property
    def _merges(self) -> tokenizer_subword.DroppingMerges:
        model = self._data["model"]
        assert model["type"] == "BPE", "only BPE samples its cuts"
        return tokenizer_subword.DroppingMerges(model["vocab"], model["merges"])

    def _prepare(self, text: str) -> str:
        text = self.casing.fold(_encodable(text))
        return self._normal(text) if self._is_word and _SETTLED.search(text) else text

    def _normal(self, text: str) -> str:
        return self._normalizer.normalize_str(text) if self._normalizer else text

    def _pieces(self, text: str) -> list[str]:
        text = text if self._is_word else self._normal(text)
        splitter = self._library.pre_tokenizer
        return [piece for piece, _ in splitter.pre_tokenize_str(text)] if splitter else [text]

    def _apart(self, word: str) -> str:
        """A copied `word`; a symbol, which has lost its spaces, with a space on each side."""
        return f" {word} " if self._marked and tokenizer_word.is_symbol(word) else word

    @classmethod
    def _made(cls, data: dict[str, Any], language: str, casing: Casing) -> Tokenizer:
        section = data["pre_tokenizer"]["mt"]
        section["language"] = language
        if casing.mode != "keep":
            section["casing"] = casing.as_dict()
        return cls(data, language)


def _train(
    lines: Iterable[str], language: str, config: TokenizerConfig, side: str
) -> dict[str, Any]:
    """The content of a tokenizer file, but for language and casing."""
    library = (
        _train_words(lines, language, config)
        if config.kind == "word"
        else tokenizer_subword.build(
            lines, config.kind, config.vocab_size, config.min_frequency, list(SPECIAL)
        )
    )
    _check_size(library.get_vocab_size(), language, config, side)
    data: dict[str, Any] = json.loads(library.to_str())
    # Special tokens are looked up by us alone; registered ones would be matched inside text.
    data["added_tokens"] = []
    data["pre_tokenizer"]["mt"] = {"language": language, "kind": config.kind}
    if config.kind != "word":
        tokenizer_subword.finish(data["model"], UNK)
    return data


def _train_words(
    lines: Iterable[str], language: str, config: TokenizerConfig
) -> tokenizers.Tokenizer:
    library = tokenizers.Tokenizer(models.WordLevel(unk_token=UNK))
    normalizer = tokenizer_word.normalizer()
    library.pre_tokenizer = tokenizer_word.pre_tokenizer(language)
    trainer = trainers.WordLevelTrainer(
        vocab_size=config.vocab_size,
        min_frequency=config.min_frequency,
        special_tokens=list(SPECIAL),
        show_progress=False,
    )
    normal = (normalizer.normalize_str(x) if _SETTLED.search(x) else x for x in lines)
    library.train_from_iterator(normal, trainer)
    library.normalizer = normalizer
    return library


def _check_size(size: int, language: str, config: TokenizerConfig, side: str) -> None:
    fixed = len(SPECIAL) + (0 if config.kind == "word" else len(tokenizer_subword.BYTES))
    if size <= fixed:
        raise UserError(
            f"the vocabulary of {language} ({side}) is empty at tokenizer.min_frequency "
            f"{config.min_frequency}: no word of the training text occurs that often, so 100 % of "
            "its words would be unknown; lower tokenizer.min_frequency or give more text"
        )
    if size > config.vocab_size:
        raise UserError(
            f"tokenizer.vocab_size ({config.vocab_size}) is too small for {language} ({side}): the "
            f"special tokens, the bytes and the characters of the text alone are {size}; raise it "
            "or clean the text"
        )


def _with_aliases(data: dict[str, Any]) -> dict[str, Any]:
    """`data` whose word-level vocabulary has a second spelling for some ids."""
    model = data["model"]
    if model["type"] != "WordLevel" or not tokenizer_file.settings(data):
        return data
    vocab = model["vocab"]
    extra = {other: vocab[token] for other, token in tokenizer_word.aliases(vocab).items()}
    return {**data, "model": {**model, "vocab": {**vocab, **extra}}}


def _folded(
    sentences: Iterable[str], counter: CasingCounter, config: TokenizerConfig
) -> Iterator[str]:
    """`sentences` in the case to learn words in; `counter` sees them as they are."""
    lines = map(_encodable, sentences)
    if config.casing == "keep":
        return lines
    # Which words are names is known only at the end: here the first word of a sentence is not one.
    casing = Casing(config.casing, {}, False)
    return map(casing.fold, counter.watch(lines))


def _encodable(text: str) -> str:
    """`text` with lone surrogates, which no encoding can hold, replaced."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
