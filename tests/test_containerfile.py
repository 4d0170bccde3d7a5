"""The container file, as far as it can be judged without building: no builder is needed here."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path

from tests.conftest import ROOT


def instructions(text: str) -> list[tuple[str, str]]:
    """(NAME, rest) of each, comments left out and continued lines joined."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [(name, rest) for line in joined.split("\n") if line.strip()
            for name, _, rest in [line.strip().partition(" ")]]  # fmt: skip


FILE = (ROOT / "Containerfile").read_text("utf-8")
ALL = instructions(FILE)
LAST_STAGE = ALL[max(i for i, (name, _) in enumerate(ALL) if name == "FROM") :]


def test_it_runs_as_a_user_without_rights_and_mt_is_its_command() -> None:
    last = dict(LAST_STAGE)
    assert last["USER"] == "mt"
    names = [name for name, _ in LAST_STAGE]
    assert names.index("USER") < names.index("ENTRYPOINT")
    assert "RUN" not in names[names.index("USER") :]
    assert json.loads(last["ENTRYPOINT"]) == ["mt"]
    assert "/opt/mt/bin:" in last["ENV"]
    assert {f"{last['WORKDIR']}/{name}" for name in ("weights", "runs")} == set(
        json.loads(last["VOLUME"])
    )


def test_every_version_is_pinned_and_no_address_is_written_down() -> None:
    assert not re.search(r"https?://|\d+\.\d+\.\d+\.\d+", FILE)
    installs = [rest for name, rest in ALL if name == "RUN" and "pip install" in rest]
    assert len(installs) == 2
    assert all("-c constraints.txt" in install for install in installs)
    bases = [rest.split()[0] for name, rest in ALL if name == "FROM"]
    assert len(set(bases)) == 1
    version = re.fullmatch(r"python:3\.(\d+)-slim-\w+", bases[0])
    assert version is not None
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert f">=3.{version[1]}" >= project["requires-python"]
    (extras,) = re.findall(r"\.\[([\w,]+)\]", installs[1])
    assert set(extras.split(",")) <= set(project["optional-dependencies"])


def test_what_it_copies_is_there_and_let_through() -> None:
    let = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines()
           if line.startswith("!")}  # fmt: skip
    copied = {source for name, rest in ALL if name == "COPY" and "--from" not in rest
              for source in shlex.split(rest)[:-1]}  # fmt: skip
    assert copied == let
    assert all(Path(ROOT / source).exists() for source in copied)
