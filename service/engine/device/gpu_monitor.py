"""GPU monitor: a thread that polls the GPU once a second, since a failing driver may answer after seconds, or never.

Owns the readings not taken yet, and the reason for which NVML calls the GPU lost. The loop reads both
without waiting; how long NVML may be silent is decided in watch.py.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Protocol

from service.core.gpu_reading import GpuReading
from service.engine.device.nvml import Gpu, GpuLost, NvmlMissing

POLL_SECONDS = 1.0

log = logging.getLogger(__name__)


class PolledGpu(Protocol):
    def read(self) -> GpuReading: ...


class GpuMonitor:
    """Polls one GPU, from `begin` on.

    Args:
        wake: called in the polling thread when the GPU is lost.

    Attributes:
        answers: number of NVML's answers; None while it is not polled.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._readings: list[GpuReading] = []
        self._lost: str | None = None
        self.answers: int | None = None
        self._begun = self._wanted = 0
        self._turn = threading.Condition()

    def begin(self, name: str) -> None:
        """Start to poll the GPU of this name, if there is NVML and it shows the GPU."""
        self._start(lambda: Gpu(name))

    def watch(self, gpu: PolledGpu) -> None:
        self._start(lambda: gpu)

    def take(self) -> list[GpuReading]:
        """Take the readings since the last call, the newest last."""
        count = len(self._readings)
        taken, self._readings[:count] = self._readings[:count], []
        return taken

    def lost(self) -> str | None:
        """The reason for which the GPU is lost; None while it is not."""
        return self._lost

    def verdict(self, seconds: float) -> str | None:
        """Wait for a reading that begins after this call, then return `lost`; a GPU that gives none is lost."""
        if self.answers is None:
            return self._lost
        with self._turn:
            wanted = self._wanted = self._begun + 1
            self._turn.notify_all()
            answered = self._turn.wait_for(lambda: self._lost is not None or (self.answers or 0) >= wanted, seconds)
        return self._lost if answered else f"NVML did not answer within {seconds:.0f} s of a failure"

    def _start(self, find: Callable[[], PolledGpu]) -> None:
        self.answers = 0
        threading.Thread(target=self._run, args=(find,), name="gpu monitor", daemon=True).start()

    def _run(self, find: Callable[[], PolledGpu]) -> None:
        try:
            gpu = find()
        except (NvmlMissing, GpuLost) as error:
            self.answers = None
            log.warning("the GPU is not watched", extra={"reason": str(error)})
            return
        self._poll(gpu)

    def _poll(self, gpu: PolledGpu) -> None:
        while self._lost is None:
            with self._turn:
                self._turn.wait_for(lambda: self._wanted > self._begun, POLL_SECONDS)
                self._begun += 1
            lost: str | None
            try:
                reading = gpu.read()
            except GpuLost as error:
                lost = str(error)
            else:
                self._readings.append(reading)
                lost = reading.fatal
            with self._turn:
                self._lost, self.answers = lost, self._begun
                self._turn.notify_all()
        self._wake()
