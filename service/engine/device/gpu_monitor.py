"""A thread that polls the GPU once a second, since a driver in trouble may answer after seconds, or never.

Owns the readings that nothing has taken yet, and the reason for which the GPU is lost. The loop reads both without
waiting.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Protocol

from service.core.gpu_reading import GpuReading
from service.engine.device.nvml import Gpu, GpuLost, NvmlMissing

POLL_SECONDS = 1.0
TIMEOUT_SECONDS = 30.0
"""A GPU whose driver has not answered for this long is lost."""

log = logging.getLogger(__name__)


class PolledGpu(Protocol):
    """A GPU that can be polled."""

    def read(self) -> GpuReading: ...


class GpuMonitor:
    """Polls one GPU, from `begin` on.

    Args:
        wake: called in the polling thread when the GPU is lost.
    """

    def __init__(self, wake: Callable[[], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._wake = wake
        self._clock = clock
        self._readings: list[GpuReading] = []
        self._lost: str | None = None
        self._answered_at: float | None = None
        self._stopped = threading.Event()

    def begin(self, name: str) -> None:
        """Start to poll the GPU of this name; without NVML, or if it does not show the GPU, nothing is polled."""
        try:
            gpu = Gpu(name)
        except (NvmlMissing, GpuLost) as error:
            log.warning("the GPU is not watched", extra={"reason": str(error)})
            return
        self.watch(gpu)

    def watch(self, gpu: PolledGpu) -> None:
        """Start to poll this GPU."""
        self._answered_at = self._clock()
        threading.Thread(target=self._poll, args=(gpu,), name="gpu monitor", daemon=True).start()

    def take(self) -> list[GpuReading]:
        """Readings since the last call, the newest at the end."""
        count = len(self._readings)
        taken, self._readings[:count] = self._readings[:count], []
        return taken

    def lost(self) -> str | None:
        """The reason for which the GPU is lost; None while it is not."""
        timed_out = self._answered_at is not None and self._clock() > self._answered_at + TIMEOUT_SECONDS
        return self._lost or (f"NVML did not answer for {TIMEOUT_SECONDS:.0f} s" if timed_out else None)

    def end(self) -> None:
        """Stop polling."""
        self._stopped.set()

    def _poll(self, gpu: PolledGpu) -> None:
        while not self._stopped.wait(POLL_SECONDS):
            try:
                reading = gpu.read()
            except GpuLost as error:
                self._lost = str(error)
            else:
                self._answered_at = self._clock()
                self._readings.append(reading)
                self._lost = reading.fatal
            if self._lost is not None:
                self._wake()
                return
