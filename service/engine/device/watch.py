"""Device watch: decides whether the device is lost, from what other threads know of it. The loop asks at every turn.

    NVML says so, or has not answered for 30 s      lost
    the driver has not answered CUDA for 20 s       lost
    an error while no batch runs                    lost: no document can have caused it
    an error while a batch runs                     that batch is to report it; lost if it does not within 5 s
    a batch reports an error                        lost if NVML, asked anew, says so; else a document may be to blame

Seconds are counted in awake time, so a pause of this process is no silence of the driver. The loop's
thread itself asks neither CUDA nor NVML anything: after a fault CUDA's calls raise, and in a driver that hangs they
never return.
"""

from __future__ import annotations

from collections.abc import Callable

from service.core.gpu_reading import GpuReading
from service.core.liveness import StallDetector
from service.engine.device.gpu_monitor import GpuMonitor

NVML_SECONDS = 30.0
DRIVER_SECONDS = 20.0
"""Most seconds between two answers of CUDA's driver, in which freeing memory waits seconds for running batches."""
FAULT_SECONDS = 5.0
VERDICT_SECONDS = 4.0
"""Most seconds of waiting for NVML after a failed batch: less than the workers' limit for a silent engine."""


class DeviceWatch:
    """Watches one device.

    Args:
        gpu: None where no GPU is watched by NVML.
    """

    def __init__(self, health: DeviceHealth, gpu: GpuMonitor | None = None) -> None:
        self._health = health
        self._gpu = gpu
        self._nvml, self._driver, self._fault = StallDetector(), StallDetector(), StallDetector()

    def begin(self, name: str) -> None:
        if self._gpu is not None:
            self._gpu.begin(name)

    def take(self) -> list[GpuReading]:
        """Take NVML's readings since the last call."""
        return [] if self._gpu is None else self._gpu.take()

    def lost(self, awake_seconds: float, *, computing: bool) -> str | None:
        """Give the reason for which the device is lost; None while it is not.

        Args:
            computing: True if a batch is on the device, or about to be.
        """
        failure = self._health.failure
        fault_seconds = self._fault.seconds(failure, awake_seconds)
        if (reported := self._reported(awake_seconds)) is not None:
            return reported
        return None if computing and fault_seconds <= FAULT_SECONDS else failure

    def lost_after_failure(self) -> str | None:
        """Give the reason for which the device is lost after a failed batch; waits `VERDICT_SECONDS` at most."""
        return None if self._gpu is None else self._gpu.verdict(VERDICT_SECONDS)

    def _reported(self, awake_seconds: float) -> str | None:
        if self._gpu is not None:
            if (lost := self._gpu.lost()) is not None:
                return lost
            if self._nvml.seconds(self._gpu.answers, awake_seconds) > NVML_SECONDS:
                return f"NVML did not answer for {NVML_SECONDS:.0f} s"
        if self._driver.seconds(self._health.answers, awake_seconds) > DRIVER_SECONDS:
            return f"the driver did not answer for {DRIVER_SECONDS:.0f} s"
        return None


class DeviceHealth:
    """Signs of life of one device, noted by threads that use it outside of batches, for the loop to read.

    Args:
        wake: called for the first failure, on the thread that reports it.

    Attributes:
        failure: the first error outside of batches that shows that the device is broken; None while there is none.
        answers: number of the driver's answers to the polling thread; None before the first.
    """

    def __init__(self, wake: Callable[[], None] = lambda: None) -> None:
        self._wake = wake
        self.failure: str | None = None
        self.answers: int | None = None

    def failed(self, error: BaseException) -> None:
        """Record an error that shows that the device is broken."""
        if self.failure is None:
            self.failure = summary(error)
            self._wake()

    def answered(self) -> None:
        """Record an answer of the driver; for the one thread that polls it."""
        self.answers = (self.answers or 0) + 1


def summary(error: BaseException) -> str:
    """Shorten an error to type and first line: the rest of CUDA's errors is advice on debugging."""
    return f"{type(error).__name__}: {error}".splitlines()[0]
