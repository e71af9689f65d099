"""The watch over a GPU: readings, a loss, a driver that does not answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from service.core.gpu_reading import GpuReading
from service.engine.device import gpu_monitor
from service.engine.device.gpu_monitor import SILENCE_SECONDS, GpuMonitor
from service.engine.device.nvml import GpuLost
from tests.support.service import wait_until


class ScriptedGpu:
    """Gives one reading after the other, or raises what stands in its place; then keeps silent."""

    def __init__(self, *answers: GpuReading | Exception) -> None:
        self._answers: Iterator[GpuReading | Exception] = iter(answers)
        self.silent = threading.Event()

    def read(self) -> GpuReading:
        answer = next(self._answers, None)
        if answer is None:
            self.silent.set()
            threading.Event().wait()
        if isinstance(answer, Exception):
            raise answer
        assert answer is not None
        return answer


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_monitor, "LOOK_SECONDS", 0.001)


def _watch(gpu: ScriptedGpu, clock: Callable[[], float] = lambda: 0.0) -> tuple[GpuMonitor, threading.Event]:
    woken = threading.Event()
    watch = GpuMonitor(woken.set, clock)
    watch.watch(gpu)
    return watch, woken


def test_readings_are_taken_once() -> None:
    gpu = ScriptedGpu(GpuReading(utilization_ratio=0.1), GpuReading(utilization_ratio=0.2))
    watch, woken = _watch(gpu)
    assert gpu.silent.wait(30)
    assert [reading.utilization_ratio for reading in watch.take()] == [0.1, 0.2]
    assert watch.take() == []
    assert watch.lost() is None
    assert not woken.is_set()


@pytest.mark.parametrize("last", [GpuLost("GPU is lost"), GpuReading(xids=(13, 79))])
def test_a_loss_wakes_the_loop(last: GpuReading | Exception) -> None:
    watch, woken = _watch(ScriptedGpu(GpuReading(), last))
    assert woken.wait(30)
    reason = watch.lost()
    assert reason is not None
    assert "lost" in reason or "XID 79" in reason


def test_a_driver_that_never_answers_again_is_gone() -> None:
    gpu, now = ScriptedGpu(GpuReading()), [0.0]
    watch, _ = _watch(gpu, lambda: now[0])
    assert gpu.silent.wait(30)
    assert watch.lost() is None
    now[0] = SILENCE_SECONDS + 1
    wait_until(lambda: watch.lost() is not None)


def test_without_a_gpu_nothing_is_watched_and_nothing_lost() -> None:
    watch = GpuMonitor(lambda: None)
    watch.begin("GPU-that-is-not-there")
    assert watch.take() == []
    assert watch.lost() is None
