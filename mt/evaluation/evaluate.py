"""What to evaluate on, and the files that an evaluation leaves behind."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mt.config import Config
from mt.errors import UserError
from mt.evaluation.scores import Score
from mt.storage import atomic
from mt.storage.model_folder import ModelFolder
from mt.text.corpus import Corpus, load_corpus

_LINE_BREAK = re.compile("\r\n?|\n")


@dataclass(frozen=True)
class TestSet:
    """Sources, and the references for them, untouched but that each is one line."""

    name: str
    sources: Sequence[str]
    references: Sequence[str]

    __test__ = False  # pytest: this is not a test

    def __post_init__(self) -> None:
        for side in ("sources", "references"):
            lines = [_LINE_BREAK.sub(" ", text) for text in getattr(self, side)]
            object.__setattr__(self, side, lines)


def held_out(folder: ModelFolder, config: Config, split: str | None) -> TestSet:
    """A split that the model was not trained on: `split`, or test, or valid if there is no test.

    Raises `UserError` when it is empty, or the corpus is no longer what the model was trained on.
    """
    corpus = load_corpus(config.data)
    check_same_split(corpus, folder)
    name = split or ("test" if len(corpus.splits["test"]) else "valid")
    rows = corpus.splits[name]
    if not len(rows):
        raise UserError(
            f"the {name} split of {folder.path.absolute()} is empty (data.{name}_size was 0); "
            "choose another with --split, or give files with --src and --ref"
        )
    return TestSet(name, rows["src"][:], rows["ref"][:])


def check_same_split(corpus: Corpus, folder: ModelFolder) -> None:
    """Raises `UserError` unless the splits are those recorded when the model was trained."""
    try:
        began: dict[str, Any] = json.loads(folder.data_file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise UserError(f"{folder.data_file.absolute()} is missing or damaged") from None
    now = corpus.report.as_dict()["splits"]
    changed = [
        f"{name}: {then['pairs']:,} pairs then, {now[name]['pairs']:,} now"
        for name, then in began["splits"].items()
        if then["hash"] != now[name]["hash"]
    ]
    if changed:
        raise UserError(
            f"the data is not what {folder.path.absolute()} was trained on "
            f"({'; '.join(changed)}); put the old data back, or choose another name "
            "(--restart moves the old run aside and trains anew)"
        )


def write_results(
    folder: Path,
    test_set: TestSet,
    hypotheses: Sequence[str],
    scores: Mapping[str, Score],
    languages: tuple[str, str],
    how: Mapping[str, Any],
) -> None:
    """Writes src, ref and hyp, a sentence a line, and scores.json, with `how` it was translated.

    The `sacrebleu` command gives the same scores on these files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    src, tgt = languages
    columns = {
        f"src.{src}": test_set.sources,
        f"ref.{tgt}": test_set.references,
        f"hyp.{tgt}": hypotheses,
    }
    for name, lines in columns.items():
        atomic.write_text(folder / name, "".join(f"{line}\n" for line in lines))
    content = {
        "test_set": test_set.name,
        "sentences": len(hypotheses),
        **{name: asdict(score) for name, score in scores.items()},
        **how,
    }
    atomic.write_text(folder / "scores.json", json.dumps(content, indent=2) + "\n")
