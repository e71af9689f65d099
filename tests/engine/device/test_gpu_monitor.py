"""The monitor of a GPU: readings, a loss, a driver that does not answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from service.core.gpu_reading import GpuReading
from service.engine.device import gpu_monitor
from service.engine.device.gpu_monitor import GpuMonitor
from service.engine.device.nvml import GpuLost
from tests.support.service import wait_until


class ScriptedGpu:
    """Returns or raises one of its answers at each reading; then never answers again."""

    def __init__(self, *answers: GpuReading | Exception) -> None:
        self._answers: Iterator[GpuReading | Exception] = iter(answers)
        self.exhausted = threading.Event()

    def read(self) -> GpuReading:
        answer = next(self._answers, None)
        if answer is None:
            self.exhausted.set()
            threading.Event().wait()
        if isinstance(answer, Exception):
            raise answer
        assert answer is not None
        return answer


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_monitor, "POLL_SECONDS", 0.001)


def _monitor(gpu: ScriptedGpu) -> tuple[GpuMonitor, threading.Event]:
    woken = threading.Event()
    monitor = GpuMonitor(woken.set)
    monitor.watch(gpu)
    return monitor, woken


def test_each_reading_is_taken_once() -> None:
    gpu = ScriptedGpu(GpuReading(utilization_ratio=0.1), GpuReading(utilization_ratio=0.2))
    monitor, woken = _monitor(gpu)
    assert gpu.exhausted.wait(30)
    assert [reading.utilization_ratio for reading in monitor.take()] == [0.1, 0.2]
    assert monitor.take() == []
    assert monitor.lost() is None
    assert not woken.is_set()


@pytest.mark.parametrize("last", [GpuLost("GPU is lost"), GpuReading(xids=(13, 79))])
def test_a_lost_gpu_wakes_the_loop(last: GpuReading | Exception) -> None:
    monitor, woken = _monitor(ScriptedGpu(GpuReading(), last))
    assert woken.wait(30)
    reason = monitor.lost()
    assert reason is not None
    assert "lost" in reason or "XID 79" in reason


class AskedGpu:
    """Answers with a loss as soon as that is announced."""

    def __init__(self) -> None:
        self.lost = False
        self.readings = 0

    def read(self) -> GpuReading:
        self.readings += 1
        return GpuReading(xids=(79,) if self.lost else ())


def test_a_verdict_is_by_a_reading_that_begins_after_the_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_monitor, "POLL_SECONDS", 600.0)
    gpu, monitor = AskedGpu(), GpuMonitor(lambda: None)
    monitor.watch(gpu)
    assert (monitor.verdict(30.0), gpu.readings) == (None, 1)
    gpu.lost = True
    assert monitor.verdict(30.0) == "the GPU has fallen off the bus (XID 79)"
    assert gpu.readings == 2


def test_a_driver_that_gives_no_verdict_has_given_one() -> None:
    gpu = ScriptedGpu(GpuReading())
    monitor, _ = _monitor(gpu)
    assert gpu.exhausted.wait(30)
    assert monitor.verdict(0.01) == "NVML did not answer within 0 s of a failure"
    assert GpuMonitor(lambda: None).verdict(0.01) is None


def test_without_a_gpu_nothing_is_polled_or_lost() -> None:
    monitor = GpuMonitor(lambda: None)
    monitor.begin("GPU-that-is-not-there")
    wait_until(lambda: monitor.answers is None)
    assert monitor.take() == []
    assert monitor.lost() is None
