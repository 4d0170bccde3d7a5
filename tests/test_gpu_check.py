"""The script for a GPU, on a CPU with a tiny model: all of it that needs no GPU."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.conftest import ROOT


def test_the_table_has_every_check_and_all_is_well() -> None:
    settings = {**os.environ, "MT_PYTHON": sys.executable, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [ROOT / "scripts" / "gpu_check.sh", "--device", "cpu", "--small"],
        capture_output=True, text=True, timeout=240, env=settings, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    table = {line.split("  ")[0]: line for line in done.stdout.splitlines()}
    judged = {what for what, line in table.items() if line.endswith("  ok")}
    assert judged == {
        "batches of 8 pairs", "batches of 256 places", "batches of 8 pairs, compiled",
        "batches of 256 places, compiled", "checkpoint read on a CPU", "translations there",
        "resumed at step 3 of 6: model", "resumed at step 3 of 6: optimizer", "out of memory",
    }  # fmt: skip
    assert "300, 5.8 target tokens on average, longest side 18" in table["pairs"]
    assert "TFLOP/s measured" in table["float32 matrix products"]
    assert "equal to the bit" in table["resumed at step 3 of 6: optimizer"]
    assert "batch cut 2 times" in table["out of memory"]
    assert "target tokens/s" in table["batches of 8 pairs"]
