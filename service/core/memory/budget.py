"""How many bytes a batch needs, and how many tokens it may therefore hold. Pure; whoever measures passes the points in.

The rules:
- Nothing is launched that `admits` does not admit.
- The room may shrink to its floor and no further, and every sequence that is let in fits the floor alone. So whatever
  was admitted can always be launched, and the queue never stands still for want of memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from service.core.memory.cost_model import MemoryCostModel
from service.core.memory.headroom import Headroom
from service.core.types import Shape


class MemoryBudget(Protocol):
    """What the engine asks before it launches a batch of a model (a revision)."""

    def budget_tokens(self, model: str) -> int:
        """Most tokens that a batch may hold now, with sequences of the longest kind."""

    def smallest_budget_tokens(self, model: str) -> int:
        """The longest sequence that fits whatever happens; a longer one is refused at the door."""

    def admits(self, model: str, shape: Shape) -> bool:
        """Whether a batch of this shape may be launched now."""

    def put(self, model: str, memory: ModelMemory) -> None:
        """From now on this model may be asked for."""

    def drop(self, model: str) -> None:
        """This model is gone."""

    def settle(self) -> None:
        """Weights came or went: what is in use now is at rest."""

    def follow(self, now: float) -> None:
        """Take note of what the device has at this moment."""

    def failed(self, model: str, shape: Shape, now: float) -> None:
        """Memory ran out for a batch of this shape."""

    def report(self) -> MemoryReport | None:
        """For metrics; None where nothing is measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryReport:
    """What a guard sees and allows.

    Attributes:
        room_bytes: batches may take so many now; `floor_bytes` is what the room may shrink to.
        available_bytes: what is there for batches, the share that may be taken.
        rest_bytes: in use when no batch runs.
        shrinks: how often the room shrank.
        functions: bytes of a batch, for each model.
    """

    room_bytes: int
    floor_bytes: int
    available_bytes: int
    rest_bytes: int
    shrinks: int
    functions: Mapping[str, MemoryCostModel]


@dataclass(frozen=True, slots=True)
class FixedBudget:
    """The same budget whatever happens, and never less than one longest sequence; bytes are not looked at."""

    tokens: int
    longest_sequence_tokens: int

    def budget_tokens(self, model: str) -> int:
        return max(self.tokens, self.longest_sequence_tokens)

    def smallest_budget_tokens(self, model: str) -> int:
        return self.budget_tokens(model)

    def admits(self, model: str, shape: Shape) -> bool:
        return shape.tokens <= self.budget_tokens(model)

    def put(self, model: str, memory: ModelMemory) -> None:
        """A fixed budget is the same for all."""

    def drop(self, model: str) -> None:
        """A fixed budget is the same for all."""

    def settle(self) -> None:
        """A fixed budget follows nothing."""

    def follow(self, now: float) -> None:
        """A fixed budget follows nothing."""

    def failed(self, model: str, shape: Shape, now: float) -> None:
        """A fixed budget learns nothing."""

    def report(self) -> None:
        return None


@dataclass(frozen=True, slots=True)
class ModelMemory:
    """What one model asks of the device.

    Attributes:
        longest_tokens: its longest sequence.
        most_tokens: what a batch may hold at most, even where memory would allow more.
    """

    function: MemoryCostModel
    longest_tokens: int
    most_tokens: int

    def budget_tokens(self, room_bytes: int) -> int:
        """Most tokens of a batch of longest sequences that fits the room; 0 when not even one token does."""
        return self.function.largest_tokens(room_bytes, self.longest_tokens, self.most_tokens)

    def floor_bytes(self) -> int:
        """What the longest sequence needs alone."""
        return self.function.bytes(Shape.of([self.longest_tokens]))


class MeasuredBudget:
    """Batches of several models in one room, each by its own measured function; models may come and go."""

    def __init__(self, room: Headroom, models: Mapping[str, ModelMemory]) -> None:
        self.room = room
        self._models = dict(models)

    def put(self, model: str, memory: ModelMemory) -> None:
        """From now on this model may be asked for."""
        self._models[model] = memory

    def drop(self, model: str) -> None:
        """This model is gone."""
        self._models.pop(model, None)

    def of(self, model: str) -> ModelMemory:
        return self._models[model]

    def memories(self) -> tuple[ModelMemory, ...]:
        return tuple(self._models.values())

    def functions(self) -> dict[str, MemoryCostModel]:
        """Bytes of a batch, for each model."""
        return {model: memory.function for model, memory in self._models.items()}

    def budget_tokens(self, model: str) -> int:
        return max(self._models[model].budget_tokens(self.room.bytes), self.smallest_budget_tokens(model))

    def smallest_budget_tokens(self, model: str) -> int:
        return self._models[model].function.longest_alone(self.room.floor_bytes, self._models[model].longest_tokens)

    def admits(self, model: str, shape: Shape) -> bool:
        memory = self._models[model]
        return shape.tokens <= memory.most_tokens and memory.function.bytes(shape) <= self.room.bytes


def floor_bytes(models: Iterable[ModelMemory]) -> int:
    """What the room must always hold, if it can: the longest sequence of each model, alone."""
    return max((model.floor_bytes() for model in models), default=0)
