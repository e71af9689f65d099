"""Memory probe: measures a device's memory for batches, and the peak of one batch.

Owns the readings; `core/memory/budget.py` and `core/memory/cost_model.py` decide what follows from them.
Memory "at rest" is what is in use when no batch runs: weights, libraries, workspaces. On CUDA the allocator's cache
beyond that serves the next batch, so it counts as available. On a CPU it does not: the C library's free blocks lie
scattered, and a batch of other shapes takes fresh memory all the same.

A thread of its own reads the memory, and the loop's thread reads what that thread found (`PolledProbe`). A host's
memory is read from its control groups, which a busy kernel sums up for up to a millisecond. CUDA's calls raise once the
device is broken and never return from a driver that hangs, so the loop makes none of them. The driver is asked before
torch's allocator: while a driver hangs, the allocator's lock may be held by the thread that hangs in it, and torch
waits for that lock without letting other threads run Python.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import torch

import service.host_memory as host
from service.core.memory.cost_model import ProbeAccuracy
from service.engine.device.watch import DeviceHealth
from service.engine.execution.device_errors import is_out_of_memory

MEBIBYTE = 1 << 20

POLL_SECONDS = 0.1
"""Seconds between two readings; one takes some 50 microseconds on CUDA."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """The part of a device's memory that one batch may take.

    Attributes:
        fraction: share of the free memory.
        limit_bytes: most bytes of the engine as a whole, weights included; 0: no limit.
    """

    fraction: float
    limit_bytes: int = 0


class MemoryProbe(Protocol):
    """Readings of one device. Only `available_bytes` may be called off the compute thread, or during batches."""

    accuracy: ProbeAccuracy

    @property
    def rest_bytes(self) -> int:
        """Bytes in use at the last `rebaseline`."""

    def rebaseline(self) -> None:
        """Take the bytes in use now for memory at rest."""

    def available_bytes(self) -> int:
        """Bytes that a batch may take."""

    def peak_bytes(self, work: Callable[[], object]) -> int:
        """Run a batch from a clean start; returns its most bytes beyond those in use before."""

    def release_cache(self) -> None:
        """Return memory cached for the next batch to the device."""

    def cap(self, headroom_bytes: int) -> None:
        """Limit the allocator to this many bytes beyond those at rest, where it has a limit."""


class HostProbe:
    """Resident memory of this process, against the memory of the host and of its control groups."""

    accuracy = ProbeAccuracy(noise_bytes=16 * MEBIBYTE, margin=1.25)

    def __init__(self, limit: MemoryLimit) -> None:
        self._limit = limit
        self.rest_bytes = host.resident_bytes()

    def rebaseline(self) -> None:
        host.trim()
        self.rest_bytes = host.resident_bytes()

    def available_bytes(self) -> int:
        in_use = max(self.rest_bytes, host.resident_bytes())
        return _allowed(host.available_bytes(), in_use, self._limit)

    def peak_bytes(self, work: Callable[[], object]) -> int:
        host.trim()
        host.reset_peak()
        before = host.resident_bytes()
        work()
        return max(0, host.peak_resident_bytes() - before)

    def release_cache(self) -> None:
        host.trim()

    def cap(self, headroom_bytes: int) -> None:
        """Set no limit: one on a process's address space would fail its threads too."""


class CudaProbe:
    """Memory that torch's allocator reserves on one CUDA device, against the free memory that the driver reports.

    Other processes, the CUDA context and libraries' own allocations are missing from the driver's figure, so they need
    no account of their own. A peak is reserved memory, not allocated: other processes cannot have the difference.
    """

    accuracy = ProbeAccuracy(noise_bytes=24 * MEBIBYTE, margin=1.05)  # The allocator reserves in steps of 2 and 20 MiB.

    def __init__(self, device: torch.device, limit: MemoryLimit) -> None:
        self._device = device
        self._limit = limit
        self.rest_bytes = self._in_use_bytes()

    def rebaseline(self) -> None:
        self.rest_bytes = self._in_use_bytes()

    def available_bytes(self) -> int:
        free, _ = torch.cuda.mem_get_info(self._device)
        cached = max(0, torch.cuda.memory_reserved(self._device) - self.rest_bytes)
        return _allowed(free + cached, self.rest_bytes, self._limit)

    def peak_bytes(self, work: Callable[[], object]) -> int:
        torch.cuda.synchronize(self._device)
        torch.cuda.empty_cache()
        before = self._in_use_bytes()
        torch.cuda.reset_peak_memory_stats(self._device)
        work()
        torch.cuda.synchronize(self._device)
        return max(0, torch.cuda.max_memory_reserved(self._device) - before)

    def release_cache(self) -> None:
        torch.cuda.empty_cache()

    def cap(self, headroom_bytes: int) -> None:
        _, total = torch.cuda.mem_get_info(self._device)
        most = self.rest_bytes + headroom_bytes / self._limit.fraction
        torch.cuda.set_per_process_memory_fraction(min(1.0, most / total), self._device)

    def _in_use_bytes(self) -> int:
        return torch.cuda.memory_allocated(self._device)


class PolledProbe:
    """Polls a probe for as long as the process lives, or until its device is broken.

    Args:
        health: notes the device's answers and errors, in readings and in work that nobody waits for. None for a
            host, which cannot be lost: its last reading holds until the next succeeds.
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
        """Return the last reading; never waits for the device."""
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


def probe_for(device: torch.device, limit: MemoryLimit, health: DeviceHealth) -> MemoryProbe | None:
    """Make the probe of a device; None where memory cannot be measured."""
    if device.type == "cuda":
        return PolledProbe(CudaProbe(device, limit), health)
    return PolledProbe(HostProbe(limit), None) if host.can_be_measured() else None


def _allowed(free_bytes: int, rest_bytes: int, limit: MemoryLimit) -> int:
    if limit.limit_bytes:
        free_bytes = min(free_bytes, limit.limit_bytes - rest_bytes)
    return max(0, int(free_bytes * limit.fraction))
