"""In-flight batches: launched and not delivered yet, in the order of their launch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from service.core.types import Batch

if TYPE_CHECKING:
    from service.engine.execution.runner import BatchHandle


@dataclass(frozen=True, slots=True)
class InFlightBatch:
    """One batch, the `number`th of this engine.

    Attributes:
        full_tokens: tokens of a full batch at its launch.
        timed: True if its time tells the device's speed; False if it shared the device from its beginning.
    """

    number: int
    batch: Batch
    handle: BatchHandle
    full_tokens: int
    timed: bool


class InFlightBatches:
    """The batches of one device."""

    def __init__(self) -> None:
        self._batches: list[InFlightBatch] = []
        self._launches = 0
        self._free_seconds = 0.0

    def __len__(self) -> int:
        return len(self._batches)

    @property
    def running(self) -> list[InFlightBatch]:
        """The batches that are not completed, in the order of launch."""
        return [launched for launched in self._batches if not launched.handle.done()]

    @property
    def progress(self) -> tuple[int, int] | None:
        """Number of the first running batch, and the times that it or a part of it was begun; None without one."""
        head = next(iter(self.running), None)
        return None if head is None else (head.number, head.handle.attempts)

    def add(self, batch: Batch, handle: BatchHandle, full_tokens: int, *, timed: bool = True) -> None:
        """Add a batch just launched."""
        self._launches += 1
        self._batches.append(InFlightBatch(self._launches, batch, handle, full_tokens, timed))

    def begun_seconds(self, launched: InFlightBatch) -> float | None:
        """Time when the device began a running batch, at least the end of the one before; None if it has not begun."""
        if not launched.handle.begun_seconds:
            return None
        before = (each.handle.ended_seconds for each in self._batches if each.number < launched.number)
        return max(launched.handle.begun_seconds, self._free_seconds, *before)

    def completed(self) -> Iterator[InFlightBatch]:
        """Remove and yield the completed batches; on a shared device a later one may complete first."""
        for launched in [launched for launched in self._batches if launched.handle.done()]:
            if launched is self._batches[0]:
                self._free_seconds = launched.handle.ended_seconds
            self._batches.remove(launched)
            yield launched
