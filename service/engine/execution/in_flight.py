"""In-flight batches: launched and not delivered yet, in the order of their launch."""

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
    """One batch, the `number`th of this engine; `full_tokens`: the tokens of a full batch when it was launched."""

    number: int
    batch: Batch
    handle: BatchHandle
    full_tokens: int


class InFlightBatches:
    """At most one batch that runs and one behind it that was formed ahead."""

    def __init__(self) -> None:
        self._batches: deque[InFlightBatch] = deque()
        self._launches = 0

    def __len__(self) -> int:
        return len(self._batches)

    @property
    def progress(self) -> tuple[int, int] | None:
        """Number of the batch at the head, and how often it or a part of it was begun; None while there is none."""
        head = next((each for each in self._batches if not each.handle.done()), None)
        return None if head is None else (head.number, head.handle.attempts)

    def add(self, batch: Batch, handle: BatchHandle, full_tokens: int) -> None:
        """Add a launched batch."""
        self._launches += 1
        self._batches.append(InFlightBatch(self._launches, batch, handle, full_tokens))

    def accepts(self, is_full: Callable[[], bool]) -> bool:
        """True when a batch may be launched now. `is_full` tells of the next batch: only a full one is formed ahead."""
        if len(self._batches) > MOST_IN_FLIGHT:  # Completed ones are delivered first.
            return False
        running = sum(not launched.handle.done() for launched in self._batches)
        return not running or (running < MOST_IN_FLIGHT and is_full())

    def completed(self) -> Iterator[InFlightBatch]:
        """Remove and yield the completed batches, up to the first that is not."""
        while self._batches and self._batches[0].handle.done():
            yield self._batches.popleft()
