"""The clock, with a time that the test moves on by hand."""

from __future__ import annotations

import pytest
import torch

from mt.training import clock as module
from mt.training.clock import Clock, peak_memory


class Time:
    """Stands still until it is told to go on."""

    now = 100.0

    def perf_counter(self) -> float:
        return self.now


def test_validating_and_saving_are_no_part_of_the_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    time = Time()
    monkeypatch.setattr(module, "time", time)
    clock = Clock()
    with clock.spent("batches"):
        time.now += 1
    time.now += 3
    clock.tokens += 200
    with clock.spent("validating"):
        time.now += 10
    with clock.spent("saving"):
        time.now += 6
    assert clock.rate() == pytest.approx(200 / 4)
    shares = {"time/batches": 1 / 20, "time/validating": 10 / 20, "time/saving": 6 / 20}
    assert clock.shares() == pytest.approx(shares)
    assert clock.left(done=2, to_do=5) == pytest.approx(50)  # 20 seconds for 2
    clock.restart()
    time.now += 5
    clock.tokens += 50
    assert clock.rate() == pytest.approx(10)
    assert clock.shares()["time/validating"] == pytest.approx(10 / 25)


def test_peak_memory_grows_with_what_is_held() -> None:
    cpu = torch.device("cpu")
    before = peak_memory(cpu)["memory/peak_mib"]
    held = bytearray(b"x") * (int(before) + 64) * 2**20
    assert peak_memory(cpu)["memory/peak_mib"] > before
    del held
