"""The batches that were launched and are not delivered yet, in the order of their launch."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from service.core.types import Batch

if TYPE_CHECKING:
    from service.engine.execution.runner import BatchHandle

MOST_IN_FLIGHT = 2


@dataclass(frozen=True, slots=True)
class InFlightBatch:
    """One batch, the `number`th of this engine; `full_tokens`: what a full one had when it left."""

    number: int
    batch: Batch
    flight: BatchHandle
    full_tokens: int


class InFlightBatches:
    """At most one batch runs, and one that was formed ahead waits behind it."""

    def __init__(self) -> None:
        self._flights: deque[InFlightBatch] = deque()
        self._launches = 0

    def __len__(self) -> int:
        return len(self._flights)

    def add(self, batch: Batch, flight: BatchHandle, full_tokens: int) -> None:
        """Note a launch."""
        self._launches += 1
        self._flights.append(InFlightBatch(self._launches, batch, flight, full_tokens))

    def can_take_one(self, is_full: Callable[[], bool]) -> bool:
        """Whether to launch now; `is_full`: whether the next batch is, which alone may be formed ahead."""
        if len(self._flights) > MOST_IN_FLIGHT:  # Those that have landed are delivered first.
            return False
        flying = sum(not launched.flight.done() for launched in self._flights)
        return not flying or (flying < MOST_IN_FLIGHT and is_full())

    def landed(self) -> Iterator[InFlightBatch]:
        """Take out those that are done, up to the first that is not."""
        while self._flights and self._flights[0].flight.done():
            yield self._flights.popleft()
