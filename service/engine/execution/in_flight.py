"""In-flight batches: launched and not delivered yet, in the order of their launch."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from service.core.scheduling.batch_forecast import BatchForecast, lead_seconds
from service.core.types import Batch

if TYPE_CHECKING:
    from service.engine.execution.runner import BatchHandle

MOST_IN_FLIGHT = 2
"""Ordinary batches."""
OPEN_SECONDS = 0.004
"""How far apart batches begin, unless they are full, on a device that is faster than its host."""
LIGHT_SECONDS = OPEN_SECONDS / 2
"""What a batch takes of such a device at most."""


class BatchPlace(Enum):
    """Where a batch stands among those in flight."""

    ORDINARY = "one of the two that a device has at a time"
    BETWEEN = "an express batch before the next ordinary one, which is formed behind it as if it were not there"
    BESIDE = "an express batch beside those that run, so its times say nothing of the device"


@dataclass(frozen=True, slots=True)
class InFlightBatch:
    """One batch, the `number`th of this engine.

    Attributes:
        full_tokens: the tokens of a full batch when it was launched.
        forecast_seconds: what it was expected to take of the device; 0 if that was unknown.
    """

    number: int
    batch: Batch
    handle: BatchHandle
    full_tokens: int
    forecast_seconds: float
    place: BatchPlace

    @property
    def is_beside(self) -> bool:
        """True if it was formed to run beside another one."""
        return self.place is BatchPlace.BESIDE


class InFlightBatches:
    """One batch that runs and one behind it, formed shortly before the device is free, and express ones."""

    def __init__(self, forecast: BatchForecast) -> None:
        self._batches: deque[InFlightBatch] = deque()
        self._forecast = forecast
        self._launches = 0
        self._free_seconds = 0.0
        self._open_until_seconds = 0.0

    def __len__(self) -> int:
        return len(self._batches)

    @property
    def running(self) -> list[InFlightBatch]:
        """Those that are not completed."""
        return [launched for launched in self._batches if not launched.handle.done()]

    @property
    def progress(self) -> tuple[int, int] | None:
        """Number of the batch at the head, and how often it or a part of it was begun; None while there is none."""
        head = next(iter(self.running), None)
        return None if head is None else (head.number, head.handle.attempts)

    def add(
        self,
        batch: Batch,
        handle: BatchHandle,
        full_tokens: int,
        now: float,
        place: BatchPlace = BatchPlace.ORDINARY,
    ) -> None:
        """Add a batch that was launched now."""
        self._launches += 1
        forecast = self._forecast.seconds(batch.model, batch.tokens)
        is_light = 0.0 < forecast <= LIGHT_SECONDS and _is_of_several(batch)
        self._open_until_seconds = now + OPEN_SECONDS if is_light else now
        self._batches.append(InFlightBatch(self._launches, batch, handle, full_tokens, forecast, place))

    def accepts_after(self, is_full: Callable[[], bool], now: float) -> float:
        """Seconds until a batch may be launched, 0 for now; infinite while that waits for another event than time.

        `is_full` tells of the next batch: only a full one is formed while another runs.
        """
        if _ordinary(self._batches) > MOST_IN_FLIGHT:  # Completed ones are delivered first.
            return math.inf
        queue = self._in_turn
        if not queue:
            return 0.0 if is_full() else self.open_for(now)
        if _ordinary(queue) >= MOST_IN_FLIGHT or not is_full():
            return math.inf
        left = max(self._seconds_left(queue[0], now), 0.0) + sum(each.forecast_seconds for each in queue[1:])
        return max(left - lead_seconds(max(each.forecast_seconds for each in queue)), 0.0)

    def open_for(self, now: float) -> float:
        """Seconds for which a batch that is not full stays open though the device is free; 0 nearly always.

        Batches begin no faster than a host makes them ready, where several documents come at a time and the device
        computes them in half of that at most: the host is what is short then. A lone document never waits. The loop
        reads nothing meanwhile, so that what comes then makes a batch full only at the end.
        """
        return max(self._open_until_seconds - now, 0.0)

    def seconds_waited_for(self, now: float) -> float:
        """What a document that comes now would wait for those in flight, as far as that is known."""
        if not (running := self._in_turn):
            return 0.0
        head = running[0]
        left = self._seconds_left(head, now)
        is_overdue = left < -lead_seconds(head.forecast_seconds)
        return head.forecast_seconds if is_overdue else max(left, 0.0)

    def completed(self) -> Iterator[InFlightBatch]:
        """Remove and yield the completed batches in their order; who ran beside another one does not wait for it."""
        in_order = True
        for launched in list(self._batches):
            done = launched.handle.done()
            if done and (in_order or launched.is_beside):
                self._batches.remove(launched)
                if not launched.is_beside:
                    self._free_seconds = launched.handle.ended_seconds
                yield launched
            in_order = in_order and done

    @property
    def _in_turn(self) -> list[InFlightBatch]:
        """Those that are not completed and run beside no other: one after the other on a GPU."""
        return [launched for launched in self.running if not launched.is_beside]

    def _seconds_left(self, head: InFlightBatch, now: float) -> float:
        """Until the batch at the head is expected to end; 0 or less if that may be at any moment."""
        begun = max(head.handle.begun_seconds, self._free_since(head)) if head.handle.begun_seconds else now
        return min(begun - now, 0.0) + head.forecast_seconds

    def _free_since(self, head: InFlightBatch) -> float:
        """When the batch before the head ended, which may not be delivered yet: the head did not begin before."""
        before = (each for each in self._batches if each.number < head.number and not each.is_beside)
        return max((each.handle.ended_seconds for each in before), default=self._free_seconds)


def _ordinary(batches: Iterable[InFlightBatch]) -> int:
    """How many of them are ordinary ones."""
    return sum(each.place is BatchPlace.ORDINARY for each in batches)


def _is_of_several(batch: Batch) -> bool:
    """True for a batch of more than one document."""
    return any(sequence.key != batch.sequences[0].key for sequence in batch.sequences)
