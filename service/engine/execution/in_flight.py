"""In-flight batches: launched and not delivered yet, in the order of their launch."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from service.core.scheduling.batch_forecast import BatchForecast, lead_seconds
from service.core.types import Batch

if TYPE_CHECKING:
    from service.engine.execution.runner import BatchHandle

MOST_IN_FLIGHT = 2


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


class InFlightBatches:
    """At most one batch that runs and one behind it, formed shortly before the device is free (`batch_forecast`)."""

    def __init__(self) -> None:
        self._batches: deque[InFlightBatch] = deque()
        self._forecast = BatchForecast()
        self._launches = 0
        self._free_seconds = 0.0

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
        forecast = self._forecast.seconds(batch.model, batch.tokens)
        self._batches.append(InFlightBatch(self._launches, batch, handle, full_tokens, forecast))

    def accepts_after(self, is_full: Callable[[], bool], now: float) -> float:
        """Seconds until a batch may be launched, 0 for now; infinite while that waits for another event than time.

        `is_full` tells of the next batch: only a full one is formed while another runs.
        """
        if len(self._batches) > MOST_IN_FLIGHT:  # Completed ones are delivered first.
            return math.inf
        running = [launched for launched in self._batches if not launched.handle.done()]
        if not running:
            return 0.0
        if len(running) >= MOST_IN_FLIGHT or not is_full():
            return math.inf
        return self._seconds_to_lead(running[0], now)

    def completed(self) -> Iterator[InFlightBatch]:
        """Remove and yield the completed batches, up to the first that is not."""
        while self._batches and self._batches[0].handle.done():
            launched = self._batches.popleft()
            self._free_seconds = launched.handle.ended_seconds
            yield launched

    def learn(self, launched: InFlightBatch, seconds: float) -> None:
        """Learn what a completed batch took of the device."""
        self._forecast.learn(launched.batch.model, launched.batch.tokens, seconds)

    def _seconds_to_lead(self, head: InFlightBatch, now: float) -> float:
        """Until so little of the batch at the head is left that the next one is to be formed."""
        begun = max(head.handle.begun_seconds, self._free_since(head)) if head.handle.begun_seconds else now
        left = min(begun - now, 0.0) + head.forecast_seconds
        return max(left - lead_seconds(head.forecast_seconds), 0.0)

    def _free_since(self, head: InFlightBatch) -> float:
        """When the batch before the head ended, which may not be delivered yet: the head did not begin before."""
        ended = (launched.handle.ended_seconds for launched in self._batches if launched.number < head.number)
        return max(ended, default=self._free_seconds)
