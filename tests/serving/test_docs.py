"""The curl lines of docs/serving.md, run as they stand."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from urllib.parse import urlsplit

import pytest

from tests.conftest import ROOT
from tests.serving.conftest import Client

TEXT = (ROOT / "docs" / "serving.md").read_text("utf-8")
LINES = [
    line
    for block in re.findall(r"```bash\n(.*?)```", TEXT, re.DOTALL)
    for line in block.replace("\\\n", " ").splitlines()
]


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_the_lines_of_the_page_work(client: Client) -> None:
    assert len(LINES) == 11
    here = urlsplit(client.url).netloc
    script = "\n".join(
        f"{line.replace('127.0.0.1:5000', here)} -sS --fail-with-body && echo" for line in LINES
    )
    ended = subprocess.run(["bash", "-ec", script], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    answers = [line for line in ended.stdout.splitlines() if line.startswith(("{", "["))]
    assert len(answers) == len(LINES) - 1  # all but the metrics
    assert set(json.loads(answers[0])) == {"translatedText"}
    assert len(json.loads(answers[2])["alternatives"]) == 2
    assert "mt_requests_total{" in ended.stdout


def test_every_path_is_in_the_page(client: Client) -> None:
    described = set(client.get("/openapi.json").json["paths"])
    missing = {path for path in described if path not in TEXT}
    assert missing == {"/suggest", "/translate_file"}  # which are refused
