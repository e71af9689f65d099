"""The memory probe of a device: what batches may take of its memory, and the peak of one batch.

Owns the readings; what follows from them is decided in `core/memory/budget.py` and `core/memory/cost_model.py`.
Memory "at rest" is what is in use when no batch runs: weights, libraries, workspaces. On CUDA the allocator's cache
beyond that serves the next batch, so it counts as available. On a CPU it does not: the C library's free blocks lie
scattered, and a batch of other shapes takes fresh memory all the same. A thread of its own reads it (polled_probe.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import torch

import service.host_memory as host
from service.core.memory.cost_model import ProbeAccuracy

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """The part of a device's memory that one batch may take.

    Attributes:
        fraction: of the free memory.
        limit_bytes: most for the engine as a whole, weights included; 0: no limit.
        batches: how many full ones may be in memory side by side.
    """

    fraction: float
    limit_bytes: int = 0
    batches: float = 1


class MemoryProbe(Protocol):
    """The readings of one device. All but `available_bytes` is for the compute thread, between batches."""

    accuracy: ProbeAccuracy

    @property
    def rest_bytes(self) -> int:
        """Bytes in use at the last `rebaseline`."""

    def rebaseline(self) -> None:
        """Take what is in use now for memory at rest."""

    def available_bytes(self) -> int:
        """Bytes that a batch may take."""

    def peak_bytes(self, work: Callable[[], object]) -> int:
        """Run a batch from a clean start; the most bytes that it had beyond those in use before."""

    def release_cache(self) -> None:
        """Return memory that is cached for the next batch to the device."""

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
        """No limit: one on a process's address space would fail its threads as well."""


class CudaProbe:
    """Memory that torch's allocator reserves on one CUDA device, against the free memory that the driver reports.

    Other processes, the CUDA context and libraries' own allocations are missing from the driver's figure, so they need
    no account of their own. A peak is reserved memory, not allocated: other processes cannot have the difference.
    Memory that CUDA graphs keep for their next replay is at rest, since no other batch may take it.

    Args:
        graphs: there may be graphs. Finding their memory takes a while with many tensors, so it is done only then.
    """

    accuracy = ProbeAccuracy(noise_bytes=24 * MEBIBYTE, margin=1.05)  # The allocator reserves in steps of 2 and 20 MiB.

    def __init__(self, device: torch.device, limit: MemoryLimit, *, graphs: bool = False) -> None:
        self._device = device
        self._limit = limit
        self._graphs = graphs
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
        segments = torch.cuda.memory_snapshot() if self._graphs else []  # type: ignore[no-untyped-call]
        return torch.cuda.memory_allocated(self._device) + graph_bytes(segments, self._device.index)


def graph_bytes(segments: Iterable[Mapping[str, Any]], device: int) -> int:
    """Bytes that CUDA graphs keep beyond what is allocated, from the segments of torch's `memory_snapshot`."""
    return sum(
        segment["total_size"] - segment["allocated_size"]
        for segment in segments
        if segment["device"] == device and tuple(segment["segment_pool_id"]) != (0, 0)
    )


def _allowed(free_bytes: int, rest_bytes: int, limit: MemoryLimit) -> int:
    if limit.limit_bytes:
        free_bytes = min(free_bytes, limit.limit_bytes - rest_bytes)
    return max(0, int(free_bytes * limit.fraction / limit.batches))
