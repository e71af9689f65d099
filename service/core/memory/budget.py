"""Memory budget: how many tokens a batch of each model may hold, given the headroom and each model's cost.

The rules:
- No batch is launched that `admits` rejects.
- The headroom may shrink to its floor and no further, and every admitted sequence fits the floor alone. So whatever was
  admitted can be launched, and the queue never stands still for want of memory.

Pure: measurements and time are passed in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from service.core.memory.cost_model import MemoryCostModel
from service.core.types import Shape

GROWTH_PER_SECOND = 0.05
"""Share of the available bytes by which the headroom grows per second: from nothing to all in 20 s."""

HOLD_SECONDS = 5.0
"""Seconds after a shrink in which the headroom does not grow: memory that was taken once is often taken again."""

FAILURE_SHARE = 0.75
"""Share of a failed batch's predicted bytes that the headroom shrinks to: less than the prediction is there."""

COUNTED_SHARE = 0.95
"""Share of the former headroom below which a shrink counts: free memory always varies a little."""


class Headroom:
    """Bytes for batches, between a floor that always holds and what the device has.

    A floor that memory was too short for at first rises with the headroom; it never falls while models stay.
    """

    def __init__(self, available_bytes: int, floor_bytes: int) -> None:
        self._wanted_floor_bytes = floor_bytes
        self.floor_bytes = min(floor_bytes, max(available_bytes, 0))
        self.bytes = max(available_bytes, self.floor_bytes)
        self.shrinks = 0
        self._before_bytes = self.bytes
        self._held_until = 0.0
        self._updated_at: float | None = None

    def update(self, available_bytes: int, now: float) -> None:
        """Follow a reading of the bytes available for batches."""
        since = 0.0 if self._updated_at is None else max(now - self._updated_at, 0.0)
        self._updated_at = now
        if available_bytes < self.bytes:
            self._shrink(available_bytes, now)
        elif now >= self._held_until:
            step = int(available_bytes * GROWTH_PER_SECOND * since)
            self.bytes = max(self.bytes, min(available_bytes, self.bytes + step))
            self._before_bytes = max(self._before_bytes, self.bytes)
            self.floor_bytes = max(self.floor_bytes, min(self._wanted_floor_bytes, self.bytes))

    def failed(self, needed_bytes: int, now: float) -> None:
        """Shrink after memory ran out for a batch that was predicted to need these bytes."""
        self._shrink(int(min(needed_bytes, self.bytes) * FAILURE_SHARE), now)

    def require(self, floor_bytes: int) -> None:
        """Replace the wanted floor, as models are added or removed."""
        self._wanted_floor_bytes = floor_bytes
        self.floor_bytes = min(floor_bytes, self.bytes)

    def _shrink(self, to_bytes: int, now: float) -> None:
        smaller = max(to_bytes, self.floor_bytes)
        if smaller < self.bytes:
            self.bytes = smaller
            if smaller < COUNTED_SHARE * self._before_bytes:
                self.shrinks += 1
                self._before_bytes = smaller
            self._held_until = now + HOLD_SECONDS


class MemoryBudget(Protocol):
    """Questions about a batch of a model (a revision) before its launch."""

    def budget_tokens(self, model: str) -> int:
        """Most tokens of a batch of longest sequences now."""

    def admits(self, model: str, shape: Shape) -> bool:
        """True when a batch of this shape may be launched now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryReport:
    """The state of a memory guard.

    Attributes:
        room_bytes: bytes for batches now; `floor_bytes`: least that this may shrink to.
        available_bytes: the device's bytes for batches.
        rest_bytes: bytes in use while no batch runs.
        shrinks: number of times that the headroom shrank by a twentieth or more.
        functions: cost model by model.
    """

    room_bytes: int
    floor_bytes: int
    available_bytes: int
    rest_bytes: int
    shrinks: int
    functions: Mapping[str, MemoryCostModel]


@dataclass(frozen=True, slots=True)
class ModelMemory:
    """The memory that one model's batches need.

    Attributes:
        longest_tokens: tokens of its longest sequence.
        most_tokens: most tokens of a batch, even where memory would allow more.
    """

    function: MemoryCostModel
    longest_tokens: int
    most_tokens: int

    def budget_tokens(self, room_bytes: int) -> int:
        """Most tokens of a batch of longest sequences that fits these bytes; 0 when not even one token does."""
        return self.function.largest_tokens(room_bytes, self.longest_tokens, self.most_tokens)

    def floor_bytes(self) -> int:
        return self.function.bytes(Shape.of([self.longest_tokens]))


class _Fitting(NamedTuple):
    """Token limits under a headroom of these bytes and this floor: of a batch, and of a sequence that always fits."""

    room_bytes: int
    floor_bytes: int
    batch_tokens: int
    sequence_tokens: int


class Budget:
    """The memory budget of several models that share one headroom, each by its own cost model."""

    def __init__(self, headroom: Headroom, models: Mapping[str, ModelMemory]) -> None:
        self.headroom = headroom
        self._models = dict(models)
        self._fitting: dict[str, _Fitting] = {}

    def put(self, model: str, memory: ModelMemory) -> None:
        """Add a model, or replace its memory."""
        self._models[model] = memory
        self._fitting.pop(model, None)
        self.headroom.require(floor_bytes(self._models.values()))

    def drop(self, model: str) -> None:
        """Remove a model; an unknown one is no error."""
        self._models.pop(model, None)
        self._fitting.pop(model, None)
        self.headroom.require(floor_bytes(self._models.values()))

    def failed(self, model: str, shape: Shape, now: float) -> None:
        """Shrink the headroom after memory ran out for a batch of this shape."""
        self.headroom.failed(self._models[model].function.bytes(shape), now)

    def functions(self) -> dict[str, MemoryCostModel]:
        return {model: memory.function for model, memory in self._models.items()}

    def budget_tokens(self, model: str) -> int:
        return self._fits(model).batch_tokens

    def smallest_budget_tokens(self, model: str) -> int:
        """Tokens of the longest sequence that fits the floor; a longer one is refused."""
        return self._fits(model).sequence_tokens

    def admits(self, model: str, shape: Shape) -> bool:
        memory = self._models[model]
        return shape.tokens <= memory.most_tokens and memory.function.bytes(shape) <= self.headroom.bytes

    def _fits(self, model: str) -> _Fitting:
        """Look up a model's token limits; computed anew when the headroom changes, not for each document and batch."""
        room, floor, fitting = self.headroom.bytes, self.headroom.floor_bytes, self._fitting.get(model)
        if fitting is None or fitting.room_bytes != room or fitting.floor_bytes != floor:
            memory = self._models[model]
            alone = memory.function.longest_alone(floor, memory.longest_tokens)
            fitting = _Fitting(room, floor, max(memory.budget_tokens(room), alone), alone)
            self._fitting[model] = fitting
        return fitting


def floor_bytes(models: Iterable[ModelMemory]) -> int:
    """The wanted floor of a headroom: the longest sequence of any of these models, alone."""
    return max((model.floor_bytes() for model in models), default=0)
