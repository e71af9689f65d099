"""Looks at the GPU once a second, in a thread of its own: a driver in trouble may take seconds to answer, or for ever.

Owns the latest reading, and whether the GPU is lost. The loop reads both without waiting.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Protocol

from service.core.gpu_reading import GpuReading
from service.engine.device.nvml import Gpu, GpuLost, NvmlMissing

LOOK_SECONDS = 1.0
SILENCE_SECONDS = 30.0
"""A driver that has not answered for so long is taken to be gone with its GPU."""

log = logging.getLogger(__name__)


class Readable(Protocol):
    """A GPU, or what stands for one in a test."""

    def read(self) -> GpuReading: ...


class GpuMonitor:
    """The watch over one GPU; until `begin` there is none."""

    def __init__(self, wake: Callable[[], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._wake = wake
        self._clock = clock
        self._readings: list[GpuReading] = []
        self._lost: str | None = None
        self._answered_at: float | None = None
        self._over = threading.Event()

    def begin(self, name: str) -> None:
        """Watch this GPU from now on; where NVML does not show it, nothing is watched."""
        try:
            gpu = Gpu(name)
        except (NvmlMissing, GpuLost) as error:
            log.warning("the GPU is not watched", extra={"reason": str(error)})
            return
        self.watch(gpu)

    def watch(self, gpu: Readable) -> None:
        """Watch this one."""
        self._answered_at = self._clock()
        threading.Thread(target=self._look_on, args=(gpu,), name="gpu watch", daemon=True).start()

    def take(self) -> list[GpuReading]:
        """Readings since the last call, the latest at the end."""
        count = len(self._readings)
        taken, self._readings[:count] = self._readings[:count], []
        return taken

    def lost(self) -> str | None:
        """Why the GPU is of no use any more, if so."""
        silent = self._answered_at is not None and self._clock() > self._answered_at + SILENCE_SECONDS
        return self._lost or (f"NVML was silent for {SILENCE_SECONDS:.0f} s" if silent else None)

    def end(self) -> None:
        """Look no more."""
        self._over.set()

    def _look_on(self, gpu: Readable) -> None:
        while not self._over.wait(LOOK_SECONDS):
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
