"""Data sets of the Hugging Face Hub: finding the subset, loading it, saying why it cannot be had.

The client is the `datasets` library's own; the rows it brings are read by `mt.text.readers.arrow`.
"""

from __future__ import annotations

import difflib
import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import datasets
import huggingface_hub
from datasets.utils import logging as datasets_logging

from mt.errors import UserError

log = logging.getLogger("mt")
PROBE_SECONDS = 10.0


def load_from_hub(
    name: str, subset: str | None, revision: str | None, src: str, tgt: str
) -> datasets.DatasetDict:
    """The splits of the data set `name`, in the subset asked for or the one of the two languages.

    A subset is found in either direction. Raises `UserError` within half a minute when the Hub
    cannot be reached and the data set is not in the cache, and for an unknown name, revision or
    subset (the nearest ones are listed), or one that may not be read.
    """
    wanted = _directions(subset) if subset else [f"{src}-{tgt}", f"{tgt}-{src}"]
    with _quiet():
        unreachable = _unreachable()
        if unreachable:
            # A data set without a choice of subsets lies in the cache under another name.
            return _from_cache(name, wanted if subset else [*wanted, None], revision, unreachable)
        try:
            chosen = _choose(name, wanted, subset, revision)
            log.info("loading %s, subset %s, from the Hub", name, chosen)
            return datasets.load_dataset(name, chosen, revision=revision)
        except UserError:
            raise
        except (OSError, ValueError, RuntimeError) as error:
            raise _explained(name, revision, error) from None


@contextmanager
def not_from_the_hub() -> Iterator[None]:
    """Data sets of the Hub are had from the cache alone, or not at all."""
    before, datasets.config.HF_HUB_OFFLINE = datasets.config.HF_HUB_OFFLINE, True
    try:
        yield
    finally:
        datasets.config.HF_HUB_OFFLINE = before


def _directions(subset: str) -> list[str]:
    """The subset as given, and the other way round."""
    for mark in "-_":
        first, found, second = subset.partition(mark)
        if found:
            return [subset, f"{second}{mark}{first}"]
    return [subset]


def _choose(name: str, wanted: list[str], subset: str | None, revision: str | None) -> str:
    names = datasets.get_dataset_config_names(name, revision=revision)
    for candidate in wanted:
        if candidate in names:
            return candidate
    if subset is None and len(names) == 1:
        return str(names[0])
    near: dict[str, None] = {}
    for candidate in wanted:
        near.update(dict.fromkeys(difflib.get_close_matches(candidate, names, n=5, cutoff=0.4)))
    shown = list(near)[:8] or names[:8]
    raise UserError(
        f"{name} has no subset {' or '.join(wanted)}; "
        f"{'nearest' if near else 'it has'}: {', '.join(shown)} ({len(names)} in all). "
        "Set data.subset, or data.src and data.tgt"
    )


def _unreachable() -> str | None:
    """Why the Hub cannot be reached, None if it can. One short try, where the client takes six."""
    if datasets.config.HF_HUB_OFFLINE or huggingface_hub.constants.HF_HUB_OFFLINE:
        return "offline mode is set (HF_HUB_OFFLINE or HF_DATASETS_OFFLINE)"
    try:
        session = huggingface_hub.get_session()
        session.head(datasets.config.HF_ENDPOINT, timeout=PROBE_SECONDS)
    except Exception as error:  # whatever the transport raises: it is not there
        return f"no network connection to it ({' '.join(str(error).split())[:100]})"
    return None


def _from_cache(
    name: str, wanted: Sequence[str | None], revision: str | None, why: str
) -> datasets.DatasetDict:
    """The data set if some earlier run has brought it here, in the revision asked for."""
    before, datasets.config.HF_HUB_OFFLINE = datasets.config.HF_HUB_OFFLINE, True
    try:
        for subset in wanted:
            try:
                found = datasets.load_dataset(name, subset)
            except (OSError, ValueError, RuntimeError):
                continue
            if revision is None or _is_revision(found, name, revision):
                log.info("%s comes from the cache: cannot reach the Hub: %s", name, why)
                return found
    finally:
        datasets.config.HF_HUB_OFFLINE = before
    at = f" at revision {revision}" if revision else ""
    raise UserError(
        f"cannot reach the Hub at {datasets.config.HF_ENDPOINT} for {name}{at} "
        f"({' or '.join(filter(None, wanted))}): {why}; and it is not in the cache "
        f"{datasets.config.HF_DATASETS_CACHE}. Run once with a network, or copy that cache from a "
        "machine that has one; or use a local file (--set data.source=FILE) or the built-in corpus "
        "(--set data.source=phrasebook)"
    )


def _is_revision(found: datasets.DatasetDict, name: str, revision: str) -> bool:
    """Whether a cached data set is of that commit, branch or tag; the client does not look."""
    folder = f"datasets--{name.replace('/', '--')}"
    reference = Path(huggingface_hub.constants.HF_HUB_CACHE) / folder / "refs" / revision
    commit = reference.read_text().strip() if reference.is_file() else revision
    files = [file["filename"] for split in found.values() for file in split.cache_files]
    return all(commit in Path(file).parts for file in files)


def _explained(name: str, revision: str | None, error: Exception) -> UserError:
    text = " ".join(str(error).split())
    at = f" at revision {revision}" if revision else ""
    ways = "use a local file (--set data.source=FILE) or --set data.source=phrasebook"
    if "gated" in text:
        why = (
            f"is gated: ask for access at {datasets.config.HF_ENDPOINT}/datasets/{name}, then log "
        )
        return UserError(f"{name} on the Hub {why}in with `hf auth login`; or {ways}")
    if revision and "evision" in text:
        return UserError(f"{name} on the Hub has no revision {revision}; see data.revision")
    if isinstance(error, datasets.exceptions.DatasetNotFoundError):
        return UserError(
            f"{name}{at}: no such data set on the Hub, or it may not be read; check the spelling "
            f"of NAMESPACE/NAME, log in with `hf auth login` if it is private, or {ways}"
        )
    if isinstance(error, ConnectionError):
        return UserError(f"cannot reach the Hub for {name}{at}: {text[:200]}; try again, or {ways}")
    return UserError(f"cannot load {name}{at} from the Hub: {text[:300]}; or {ways}")


@contextmanager
def _quiet() -> Iterator[None]:
    """No bars but on a terminal, and no warnings of the libraries beside our own message."""
    if not sys.stderr.isatty():
        datasets.disable_progress_bars()
        huggingface_hub.utils.disable_progress_bars()  # type: ignore[attr-defined]
    before = datasets_logging.get_verbosity()
    datasets_logging.set_verbosity_error()
    try:
        yield
    finally:
        datasets_logging.set_verbosity(before)
