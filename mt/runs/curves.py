"""The curves of a run, as metrics.jsonl has them, and which of them are drawn together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mt.errors import UserError
from mt.pictures.curves import Curve, Points, draw
from mt.storage.record import METRICS_FILE, read_metrics


@dataclass(frozen=True)
class Together:
    """Curves in one picture: a line of dots for each, and marks for those of validation."""

    title: str
    names: dict[str, str]  # tag to name
    without: str  # what is said where there is nothing of them

    def drawn(self, curves: Mapping[str, Points]) -> list[Curve]:
        """Those of its curves that there are."""
        return [
            Curve(name, curves[tag], "●" if tag.startswith("valid/") else "")
            for tag, name in self.names.items()
            if tag in curves
        ]

    def lines(self, curves: Mapping[str, Points], width: int) -> list[str]:
        """The picture, at most `width` columns wide."""
        drawn = self.drawn(curves)
        return [self.title, *draw(drawn, width)] if drawn else [f"{self.title}: {self.without}"]


CURVES = (
    Together(
        "loss, nats a token, by step",
        {"train/loss": "train", "valid/loss": "valid"},
        "nothing is recorded yet",
    ),
    Together(
        "BLEU of validation, by step",
        {"valid/bleu": "valid"},
        "nothing is recorded: there was no validation yet, or it translates nothing "
        "(training.bleu_samples, data.valid_size)",
    ),
)


def read_curves(record: Path | None) -> dict[str, list[tuple[float, float]]]:
    """All curves of a run by tag, (step, value) each, steps rising. Raises UserError."""
    found: dict[str, list[tuple[float, float]]] = {}
    try:
        for line in read_metrics(record) if record else []:
            step = float(str(line["step"]))
            for tag, value in line.items():
                if tag != "step" and isinstance(value, int | float):
                    found.setdefault(tag, []).append((step, float(value)))
    except (OSError, ValueError, KeyError, AttributeError):
        assert record is not None
        raise UserError(f"{(record / METRICS_FILE).absolute()} is damaged") from None
    return found
