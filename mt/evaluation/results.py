"""The files that an evaluation leaves behind, for `sacrebleu` and for other programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mt.evaluation.buckets import by_document
from mt.evaluation.evaluate import TestSet
from mt.evaluation.report import Report, joined_by_document
from mt.evaluation.training_text import Seen
from mt.storage import atomic

SCORES = "scores.json"


def content_of(
    test_set: TestSet, languages: tuple[str, str], report: Report, seen: Seen | None
) -> dict[str, Any]:
    """What scores.json says of translations, but for how they were made."""
    overlap = None
    if seen:
        overlap = {
            "sources": len(seen.sources),
            "pairs": len(seen.pairs),
            "lines": [place + 1 for place in seen.sources],
        }
    return {
        "test_set": test_set.name,
        "src": languages[0],
        "tgt": languages[1],
        "sentences": len(test_set.references),
        "references": len(test_set.streams),
        **report.as_dict(),
        "overlap": overlap,
    }


def write_results(
    folder: Path,
    test_set: TestSet,
    hypotheses: Sequence[str],
    languages: tuple[str, str],
    content: Mapping[str, Any],
) -> None:
    """Writes src, ref and hyp, a sentence a line, and `content` as scores.json.

    More references are ref-2, ref-3 and so on. Where there are documents, `documents` has that of
    each sentence, and the files with "documents" in their name a document a line. The `sacrebleu`
    command gives the same scores on these files. Those that an earlier scores.json in the folder
    names, and this evaluation does not have, go. Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    src, tgt = (f".{language}" if language else "" for language in languages)
    files = {f"src{src}": test_set.sources} if test_set.sources else {}
    for number, stream in enumerate(test_set.streams, 1):
        files[f"ref{f'-{number}' if number > 1 else ''}{tgt}"] = stream
    files[f"hyp{tgt}"] = hypotheses
    if test_set.documents:
        whole = {name: lines for name, lines in files.items() if not name.startswith("src")}
        documents = by_document(test_set.documents)
        for name, lines in whole.items():
            stem = name.removesuffix(tgt)
            files[f"{stem}.documents{tgt}"] = joined_by_document(lines, documents)
        files["documents"] = test_set.documents
    for old in _files_of(folder / SCORES) - files.keys():
        (folder / old).unlink(missing_ok=True)
    for name, lines in files.items():
        atomic.write_text(folder / name, "".join(f"{line}\n" for line in lines))
    text = json.dumps({**content, "files": list(files)}, indent=2, ensure_ascii=False)
    atomic.write_text(folder / SCORES, text + "\n")


def _files_of(scores: Path) -> set[str]:
    """The names of the files that were written with a scores.json, in the same folder."""
    try:
        named = json.loads(scores.read_text(encoding="utf-8"))["files"]
        return {Path(name).name for name in named}
    except (OSError, ValueError, KeyError, TypeError):
        return set()
