"""What the tests of text share: a data cache that is the test's own."""

from __future__ import annotations

from pathlib import Path

import datasets
import pytest


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in place of the user's cache of data sets."""
    folder = tmp_path / "cache"
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", folder)
    return folder
