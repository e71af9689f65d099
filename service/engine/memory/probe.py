"""How much memory a device has for batches, and how much one takes at its peak: a gauge for each kind of device.

Owns the readings; what follows from them is decided in `core/memory/headroom.py` and `core/memory/cost_model.py`. "At
rest" is what is in use when no batch runs: weights, libraries, workspaces. On CUDA what is held beyond that is kept for
the next batch, so it counts as available. On a CPU it does not: the C library's free blocks lie scattered, and a batch
of other shapes takes fresh memory all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from service.core.memory.cost_model import ProbeAccuracy
from service.engine.memory import host as host_memory

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """How much of what is there one batch may take.

    Attributes:
        fraction: share of what is free that may be taken.
        limit_bytes: most for the engine as a whole, weights included; 0: none.
        batches: how many may be in memory side by side.
    """

    fraction: float
    limit_bytes: int = 0
    batches: int = 1


class MemoryProbe(Protocol):
    """What the guard reads. `settle`, `peak_bytes` and `give_back` are for the compute thread, between batches."""

    gauged: ProbeAccuracy
    rest_bytes: int

    def settle(self) -> None:
        """What is in use now is at rest."""

    def available_bytes(self) -> int:
        """Bytes that batches may take."""

    def peak_bytes(self, work: Callable[[], object]) -> int:
        """Run a batch from a clean start; the bytes that it needed beyond those at rest."""

    def give_back(self) -> None:
        """Hand what is held for the next batch back to the device."""

    def cap(self, room_bytes: int) -> None:
        """Have the allocator refuse to go beyond this, where it can."""


class HostProbe:
    """Resident memory of this process, against the host's memory and its control groups."""

    gauged = ProbeAccuracy(noise_bytes=16 * MEBIBYTE, margin=1.25)

    def __init__(self, allowance: MemoryLimit) -> None:
        self._allowance = allowance
        self.rest_bytes = host_memory.resident_bytes()

    def settle(self) -> None:
        host_memory.trim()
        self.rest_bytes = host_memory.resident_bytes()

    def available_bytes(self) -> int:
        in_use = max(self.rest_bytes, host_memory.resident_bytes())
        return _allowed(host_memory.available_bytes(), in_use, self._allowance)

    def peak_bytes(self, work: Callable[[], object]) -> int:
        host_memory.trim()
        host_memory.forget_peak()
        before = host_memory.resident_bytes()
        work()
        return max(0, host_memory.peak_resident_bytes() - before)

    def give_back(self) -> None:
        host_memory.trim()

    def cap(self, room_bytes: int) -> None:
        """A limit on a process's address space would fail its threads as well, so there is none on CPUs."""


class CudaProbe:
    """Memory that torch's allocator reserves on one CUDA device, against what the driver says is free there.

    Other processes, the CUDA context and whatever libraries take for themselves are missing from the driver's figure,
    so they need no account of their own. A peak is reserved memory, not allocated: that is what others cannot have.
    What recorded graphs hold for their next replay is no other batch's either, so it is at rest.

    Args:
        graphs: there may be some. Looking takes a while where there are many tensors, so it is only done then.
    """

    gauged = ProbeAccuracy(noise_bytes=24 * MEBIBYTE, margin=1.05)  # The allocator reserves in steps of 2 and 20 MiB.

    def __init__(self, device: torch.device, allowance: MemoryLimit, *, graphs: bool = False) -> None:
        self._device = device
        self._allowance = allowance
        self._graphs = graphs
        self.rest_bytes = self._in_use_bytes()

    def settle(self) -> None:
        self.rest_bytes = self._in_use_bytes()

    def available_bytes(self) -> int:
        free, _ = torch.cuda.mem_get_info(self._device)
        held = max(0, torch.cuda.memory_reserved(self._device) - self.rest_bytes)
        return _allowed(free + held, self.rest_bytes, self._allowance)

    def peak_bytes(self, work: Callable[[], object]) -> int:
        torch.cuda.synchronize(self._device)
        torch.cuda.empty_cache()
        before = self._in_use_bytes()
        torch.cuda.reset_peak_memory_stats(self._device)
        work()
        torch.cuda.synchronize(self._device)
        return max(0, torch.cuda.max_memory_reserved(self._device) - before)

    def give_back(self) -> None:
        torch.cuda.empty_cache()

    def cap(self, room_bytes: int) -> None:
        _, total = torch.cuda.mem_get_info(self._device)
        most = self.rest_bytes + room_bytes / self._allowance.fraction
        torch.cuda.set_per_process_memory_fraction(min(1.0, most / total), self._device)

    def _in_use_bytes(self) -> int:
        segments = torch.cuda.memory_snapshot() if self._graphs else []  # type: ignore[no-untyped-call]
        return torch.cuda.memory_allocated(self._device) + kept_bytes(segments, self._device.index)


def kept_bytes(segments: Iterable[Mapping[str, Any]], device: int) -> int:
    """Bytes that graphs hold beyond what is allocated, from the segments of torch's allocator (`memory_snapshot`)."""
    return sum(
        segment["total_size"] - segment["allocated_size"]
        for segment in segments
        if segment["device"] == device and tuple(segment["segment_pool_id"]) != (0, 0)
    )


def gauge_of(device: torch.device, allowance: MemoryLimit, *, graphs: bool = False) -> MemoryProbe | None:
    """The gauge of a device on which there may be graphs; None where nothing can be measured."""
    if device.type == "cuda":
        return CudaProbe(device, allowance, graphs=graphs)
    return HostProbe(allowance) if host_memory.can_be_measured() else None


def _allowed(there_bytes: int, rest_bytes: int, allowance: MemoryLimit) -> int:
    if allowance.limit_bytes:
        there_bytes = min(there_bytes, allowance.limit_bytes - rest_bytes)
    return max(0, int(there_bytes * allowance.fraction / allowance.batches))
