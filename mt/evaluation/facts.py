"""What decoding tells of translations, beside their scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mt.decoding.translator import Translation


@dataclass(frozen=True)
class Facts:
    """Figures of N translations. Lines are counted from 1."""

    source_tokens: int
    unknown_words: int  # source tokens that the model does not know
    cut: list[int]  # lines that reached the longest allowed length
    repeated: list[int]  # lines that say the same again and again, where the source does not
    seconds: float  # of translating alone
    sentences_per_second: float
    tokens_per_second: float  # target tokens, EOS included

    def lines(self) -> Iterator[str]:
        """As a person reads them."""
        share = self.unknown_words / max(1, self.source_tokens)
        yield f"unknown words     {share:.1%}   ({self.unknown_words:,} of the source tokens)"
        yield f"cut               {len(self.cut):,}   (at the longest allowed length)"
        yield f"stuck             {len(self.repeated):,}   (say the same again and again)"
        yield (
            f"speed             {self.sentences_per_second:,.1f} sentences/s, "
            f"{self.tokens_per_second:,.0f} tokens/s   ({self.seconds:.1f} s)"
        )


def facts_of(translations: Sequence[Translation], seconds: float) -> Facts:
    """The figures of translations that took so long."""
    tokens = sum(
        len(t.alternatives[0].hypothesis.ids) + (not t.cut) for t in translations if t.alternatives
    )
    return Facts(
        source_tokens=sum(t.source_tokens for t in translations),
        unknown_words=sum(len(t.unknown) for t in translations),
        cut=[line for line, t in enumerate(translations, 1) if t.cut],
        repeated=[line for line, t in enumerate(translations, 1) if t.repeated],
        seconds=seconds,
        sentences_per_second=len(translations) / max(seconds, 1e-9),
        tokens_per_second=tokens / max(seconds, 1e-9),
    )
