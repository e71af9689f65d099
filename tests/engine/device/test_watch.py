"""When a device counts as lost, from what NVML and the threads that use it say."""

from __future__ import annotations

from typing import cast

import pytest

from service.core.gpu_reading import GpuReading
from service.engine.device.gpu_monitor import GpuMonitor
from service.engine.device.watch import DRIVER_SECONDS, FAULT_SECONDS, NVML_SECONDS, DeviceHealth, DeviceWatch

FAULT = RuntimeError("CUDA error: unspecified launch failure\nCompile with TORCH_USE_CUDA_DSA")
WORDS = "RuntimeError: CUDA error: unspecified launch failure"


class Nvml:
    """What NVML says."""

    def __init__(self) -> None:
        self.answers: int | None = 0
        self.reason: str | None = None
        self.asked_anew: str | None = None

    def take(self) -> list[GpuReading]:
        return []

    def lost(self) -> str | None:
        return self.reason

    def verdict(self, _: float) -> str | None:
        return self.asked_anew


@pytest.fixture
def nvml() -> Nvml:
    return Nvml()


@pytest.fixture
def health() -> DeviceHealth:
    return DeviceHealth()


@pytest.fixture
def watch(health: DeviceHealth, nvml: Nvml) -> DeviceWatch:
    return DeviceWatch(health, cast(GpuMonitor, nvml))


def test_an_error_while_no_batch_runs_is_the_device_s(watch: DeviceWatch, health: DeviceHealth) -> None:
    assert watch.lost(0.0, computing=False) is None
    health.failed(FAULT)
    assert watch.lost(1.0, computing=False) == WORDS


def test_an_error_while_a_batch_runs_is_left_to_the_batch_for_a_while(watch: DeviceWatch, health: DeviceHealth) -> None:
    health.failed(FAULT)
    assert watch.lost(10.0, computing=True) is None
    assert watch.lost(10.0 + FAULT_SECONDS, computing=True) is None
    assert watch.lost(10.1 + FAULT_SECONDS, computing=True) == WORDS


def test_a_batch_s_error_is_the_device_s_if_nvml_says_so(watch: DeviceWatch, nvml: Nvml, health: DeviceHealth) -> None:
    assert watch.lost_after_failure() is None
    nvml.asked_anew = "GPU is lost"
    assert watch.lost_after_failure() == "GPU is lost"
    assert DeviceWatch(health).lost_after_failure() is None


def test_a_driver_that_hangs_is_lost_whatever_runs(watch: DeviceWatch, health: DeviceHealth, nvml: Nvml) -> None:
    for second in range(200):
        nvml.answers = second
        assert watch.lost(float(second), computing=True) is None, "it was never asked"
    health.answered()
    nvml.answers = 300
    assert watch.lost(300.0, computing=True) is None
    nvml.answers = 301
    assert watch.lost(300.0 + DRIVER_SECONDS, computing=True) is None
    assert watch.lost(301.0 + DRIVER_SECONDS, computing=True) == "the driver did not answer for 20 s"


def test_an_nvml_that_hangs_is_lost(watch: DeviceWatch, health: DeviceHealth) -> None:
    for second in range(int(NVML_SECONDS) + 1):
        health.answered()
        assert watch.lost(float(second), computing=False) is None
    health.answered()
    assert watch.lost(NVML_SECONDS + 1, computing=False) == "NVML did not answer for 30 s"


def test_what_nvml_reports_comes_first(watch: DeviceWatch, health: DeviceHealth, nvml: Nvml) -> None:
    health.failed(FAULT)
    nvml.reason = "the GPU has fallen off the bus (XID 79)"
    assert watch.lost(0.0, computing=True) == nvml.reason


def test_the_first_failure_is_kept_and_wakes_the_loop() -> None:
    woken: list[int] = []
    told = DeviceHealth(lambda: woken.append(1))
    told.failed(FAULT)
    told.failed(RuntimeError("a consequence"))
    assert (told.failure, woken) == (WORDS, [1])
