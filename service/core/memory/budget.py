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
from service.core.memory.headroom import Headroom
from service.core.types import Shape


class MemoryBudget(Protocol):
    """What is asked before a batch of a model (a revision) is launched."""

    def budget_tokens(self, model: str) -> int:
        """Most tokens that a batch of longest sequences may hold now."""

    def admits(self, model: str, shape: Shape) -> bool:
        """True when a batch of this shape may be launched now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryReport:
    """The state of a memory guard.

    Attributes:
        room_bytes: what batches may take now; `floor_bytes`: what that may shrink to.
        available_bytes: what the device has for batches, as far as they may take it.
        rest_bytes: in use while no batch runs.
        shrinks: how often the headroom shrank.
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
        longest_tokens: its longest sequence.
        most_tokens: what a batch may hold at most, even where memory would allow more.
    """

    function: MemoryCostModel
    longest_tokens: int
    most_tokens: int

    def budget_tokens(self, room_bytes: int) -> int:
        """Most tokens of a batch of longest sequences that fits these bytes; 0 when not even one token does."""
        return self.function.largest_tokens(room_bytes, self.longest_tokens, self.most_tokens)

    def floor_bytes(self) -> int:
        """Bytes of the longest sequence alone."""
        return self.function.bytes(Shape.of([self.longest_tokens]))


class _Fitting(NamedTuple):
    """What fits a headroom of these bytes and this floor: a batch's tokens, and a sequence's that always fits."""

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
        """Shrink the headroom, because memory ran out for a batch of this shape."""
        self.headroom.failed(self._models[model].function.bytes(shape), now)

    def functions(self) -> dict[str, MemoryCostModel]:
        """Cost model by model."""
        return {model: memory.function for model, memory in self._models.items()}

    def budget_tokens(self, model: str) -> int:
        return self._fits(model).batch_tokens

    def smallest_budget_tokens(self, model: str) -> int:
        """The longest sequence that fits the floor; a longer one is refused."""
        return self._fits(model).sequence_tokens

    def admits(self, model: str, shape: Shape) -> bool:
        memory = self._models[model]
        return shape.tokens <= memory.most_tokens and memory.function.bytes(shape) <= self.headroom.bytes

    def _fits(self, model: str) -> _Fitting:
        """Computed anew when the headroom has changed: it is asked for with each document and each batch."""
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
