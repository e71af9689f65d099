"""A probe wrapper: a thread of its own reads the memory, and the loop's thread reads what that thread found.

A host's memory is read from its control groups, which a busy kernel sums up for up to a millisecond. CUDA's calls raise
once the device is broken and never return from a driver that hangs, so the loop makes none of them. The driver is asked
before torch's allocator: while a driver hangs, the allocator's lock may be held by the thread that hangs in it, and
torch waits for that lock without letting other threads run Python.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import torch

import service.host_memory as host
from service.engine.device.health import DeviceHealth
from service.engine.execution.device_errors import is_out_of_memory
from service.engine.memory.probe import CudaProbe, HostProbe, MemoryLimit, MemoryProbe

POLL_SECONDS = 0.1
"""A reading takes some 50 microseconds on CUDA."""

log = logging.getLogger(__name__)


class PolledProbe:
    """Polls a probe for as long as the process lives, or until its device is broken.

    Args:
        health: is told of the device's answers and errors, in readings as in work that nobody waits for. None for a
            host, which is no device that can be lost: what was read last holds until it can be read again.
    """

    def __init__(
        self, probe: MemoryProbe, health: DeviceHealth | None, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self.accuracy = probe.accuracy
        self._probe = probe
        self._health = health
        self._pause = pause
        self._available_bytes = probe.available_bytes()
        poll = self._poll_host if health is None else partial(self._poll_device, health)
        threading.Thread(target=poll, name="memory", daemon=True).start()

    @property
    def rest_bytes(self) -> int:
        return self._probe.rest_bytes

    def available_bytes(self) -> int:
        """As last read; never waits for the device."""
        return self._available_bytes

    def rebaseline(self) -> None:
        with self._reporting():
            self._probe.rebaseline()
            self._available_bytes = self._probe.available_bytes()

    def peak_bytes(self, work: Callable[[], object]) -> int:
        return self._probe.peak_bytes(work)

    def release_cache(self) -> None:
        with self._reporting():
            self._probe.release_cache()

    def cap(self, headroom_bytes: int) -> None:
        with self._reporting():
            self._probe.cap(headroom_bytes)

    def _poll_device(self, health: DeviceHealth) -> None:
        while health.failure is None:
            try:
                self._available_bytes = self._probe.available_bytes()
            except Exception as error:  # Nothing but the device can fail here, and it would do so again.
                health.failed(error)
                return
            health.answered()
            self._pause(POLL_SECONDS)

    def _poll_host(self) -> None:
        failed = False
        while True:
            try:
                self._available_bytes = self._probe.available_bytes()
                failed = False
            except Exception:
                if not failed:
                    log.exception("the host's memory cannot be read")
                failed = True
            self._pause(POLL_SECONDS)

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if self._health is not None and not is_out_of_memory(error):
                self._health.failed(error)
            raise


def probe_for(
    device: torch.device, limit: MemoryLimit, health: DeviceHealth, *, graphs: bool = False
) -> MemoryProbe | None:
    """The probe of a device on which there may be CUDA graphs; None where memory cannot be measured."""
    if device.type == "cuda":
        return PolledProbe(CudaProbe(device, limit, graphs=graphs), health)
    return PolledProbe(HostProbe(limit), None) if host.can_be_measured() else None
