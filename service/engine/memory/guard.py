"""The memory guard: a measured budget that follows what the device really has.

Owns the link between the gauge (what is there) and the budget (what may be launched). It is asked by the loop's thread;
what must not happen beside a batch, such as giving memory back, it hands to the compute thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor

from service.core.memory.budget import MeasuredBudget, MemoryReport, ModelMemory, floor_bytes
from service.core.memory.headroom import Headroom
from service.core.types import Shape
from service.engine.memory.probe import MemoryProbe

LOOK_SECONDS = 0.1
"""Least time between two looks at the device: they cost some 50 microseconds each."""

NOTICEABLE = 0.05
"""Share of the room that must have gone before memory is handed back: that waits for the batches that run, and the next
ones take fresh memory. What a host has left is never quite the same from one look to the next.
"""

SETTLE_SECONDS = 30.0
"""How often memory at rest is measured anew: libraries keep what they compiled for new shapes."""


class Guard:
    """A memory model whose room is looked after."""

    def __init__(self, gauge: MemoryProbe, models: Mapping[str, ModelMemory], compute: Executor) -> None:
        self.gauge = gauge
        self._compute = compute
        self._room = Headroom(gauge.available_bytes(), floor_bytes(models.values()))
        self._budget = MeasuredBudget(self._room, models)
        self._capped_bytes = self._room.bytes
        self._next_look_seconds = 0.0
        self._next_settle_seconds = 0.0
        gauge.cap(self._room.bytes)

    def budget_tokens(self, model: str) -> int:
        return self._budget.budget_tokens(model)

    def smallest_budget_tokens(self, model: str) -> int:
        return self._budget.smallest_budget_tokens(model)

    def admits(self, model: str, shape: Shape) -> bool:
        return self._budget.admits(model, shape)

    def put(self, model: str, memory: ModelMemory) -> None:
        """Know one more model."""
        self._budget.put(model, memory)
        self._room.keep(floor_bytes(self._budget.memories()))

    def drop(self, model: str) -> None:
        """Forget a model that nobody will ask for again."""
        self._budget.drop(model)
        self._room.keep(floor_bytes(self._budget.memories()))

    def settle(self) -> None:
        """Weights came or went: once the batches before are through, what is in use is at rest."""
        self._compute.submit(self._settle)

    def follow(self, now: float) -> None:
        """Look at the device, unless that was just done."""
        if now < self._next_look_seconds:
            return
        self._next_look_seconds = now + LOOK_SECONDS
        self._room.observe(self.gauge.available_bytes(), now)
        self._follow_with_the_cap()
        if now >= self._next_settle_seconds:
            self._next_settle_seconds = now + SETTLE_SECONDS
            self._compute.submit(self._settle)

    def failed(self, model: str, shape: Shape, now: float) -> None:
        """Memory ran out for a batch of this shape."""
        self._room.failed(self._budget.of(model).function.bytes(shape), now)

    def report(self) -> MemoryReport:
        """What the guard sees and allows at this moment."""
        return MemoryReport(
            room_bytes=self._room.bytes,
            floor_bytes=self._room.floor_bytes,
            available_bytes=self.gauge.available_bytes(),
            rest_bytes=self.gauge.rest_bytes,
            shrinks=self._room.shrinks,
            functions=self._budget.functions(),
        )

    def _follow_with_the_cap(self) -> None:
        """Up at once, or batches that the budget admits would fail; down when it is worth handing memory back."""
        if self._room.bytes > self._capped_bytes:
            self._capped_bytes = self._room.bytes
            self.gauge.cap(self._capped_bytes)
        elif self._room.bytes < (1 - NOTICEABLE) * self._capped_bytes:
            self._capped_bytes = self._room.bytes
            self._compute.submit(self._tighten)

    def _tighten(self) -> None:
        self.gauge.release_cache()
        self.gauge.cap(self._capped_bytes)

    def _settle(self) -> None:
        self.gauge.rebaseline()
        self.gauge.cap(self._capped_bytes)  # What is at rest counts in it.
