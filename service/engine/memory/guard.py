"""Memory guard: keeps the memory budget in step with what the device has.

Links the probe (available bytes) to the budget (tokens to launch). Called by the loop's thread, which never waits for
the device: the probe has its readings, and changes of the device are submitted to its executor.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from service.core.memory.budget import Budget, Headroom, MemoryReport, ModelMemory, floor_bytes
from service.core.types import Shape
from service.engine.execution.executor import DeviceWork

if TYPE_CHECKING:  # It imports torch, for which the engine's first phase does not wait.
    from service.engine.memory.probe import MemoryProbe

LOOK_SECONDS = 0.1
"""Least seconds between two looks at the probe's readings."""

NOTICEABLE = 0.05
"""Share of the headroom that must be lost before the cache is released: releasing waits for the batches in flight, and
the next ones allocate anew. A host's available memory varies a little between any two readings."""

REBASELINE_SECONDS = 30.0
"""Seconds between measurements of memory at rest: libraries keep what they compile for new shapes."""

UNMEASURED_BYTES = 1 << 62
"""The headroom where there is no probe: no batch is rejected for its bytes."""


class Guard:
    """The memory budget of one device, kept up to date.

    Args:
        probe: None on a system whose memory cannot be read; the budget then stays as it is.
    """

    def __init__(self, probe: MemoryProbe | None, models: Mapping[str, ModelMemory], executor: DeviceWork) -> None:
        self._probe = probe
        self._executor = executor
        available = UNMEASURED_BYTES if probe is None else probe.available_bytes()
        self.budget = Budget(Headroom(available, floor_bytes(models.values())), models)
        self._capped_bytes = self.budget.headroom.bytes
        self._next_look_seconds = 0.0
        self._next_rebaseline_seconds = 0.0
        if probe is not None:
            probe.cap(self._capped_bytes)

    def budget_tokens(self, model: str) -> int:
        return self.budget.budget_tokens(model)

    def admits(self, model: str, shape: Shape) -> bool:
        return self.budget.admits(model, shape)

    def rebaseline(self) -> None:
        """Measure memory at rest again, after the batches in flight, since weights were loaded or offloaded."""
        if self._probe is not None:
            self._executor.submit(self._rebaseline, self._probe)

    def refresh(self, now: float) -> None:
        """Follow the probe's reading of the device, at most every `LOOK_SECONDS`."""
        if self._probe is None or now < self._next_look_seconds:
            return
        self._next_look_seconds = now + LOOK_SECONDS
        self.budget.headroom.update(self._probe.available_bytes(), now)
        self._adjust_cap(self._probe)
        if now >= self._next_rebaseline_seconds:
            self._next_rebaseline_seconds = now + REBASELINE_SECONDS
            self.rebaseline()

    def report(self) -> MemoryReport | None:
        """The state for metrics; None where nothing is measured."""
        if self._probe is None:
            return None
        return MemoryReport(
            room_bytes=self.budget.headroom.bytes,
            floor_bytes=self.budget.headroom.floor_bytes,
            available_bytes=self._probe.available_bytes(),
            rest_bytes=self._probe.rest_bytes,
            shrinks=self.budget.headroom.shrinks,
            functions=self.budget.functions(),
        )

    def _adjust_cap(self, probe: MemoryProbe) -> None:
        """Raise the allocator's cap before the next batch, or it would fail; lower it when the loss is noticeable."""
        room_bytes = self.budget.headroom.bytes
        if room_bytes > self._capped_bytes:
            self._capped_bytes = room_bytes
            self._executor.submit_in_order(probe.cap, room_bytes)
        elif room_bytes < (1 - NOTICEABLE) * self._capped_bytes:
            self._capped_bytes = room_bytes
            self._executor.submit(self._tighten, probe)

    def _tighten(self, probe: MemoryProbe) -> None:
        probe.release_cache()
        probe.cap(self._capped_bytes)

    def _rebaseline(self, probe: MemoryProbe) -> None:
        probe.rebaseline()
        probe.cap(self._capped_bytes)  # The cap includes what is at rest.
