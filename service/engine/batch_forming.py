"""Batch former: decides which batch is launched next, and when.

While a batch runs, the queue fills by itself, so there is no batching timer: on a free device a lone document is
launched at once. At most two batches are in flight. The second one is formed only if it is full, and late, so that
documents that come meanwhile are in it, and so that a document waits for one full batch before its own and not for two.
Clients with a small backlog may get a batch of their own (`small_backlog`): as the next one, or, where batches take
turns, as a second one while one runs.

Where batches take turns (on a CPU), batch work and interactive work run in separate batches. Interactive work is
launched beside batch work at once, and computed after the unit that is running. While there is interactive work, no
second batch of batch work is formed.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from service.core.scheduling.scheduler import Scheduler
from service.core.scheduling.small_backlog import WORTHWHILE_SECONDS
from service.core.scheduling.throughput import ThroughputMeter
from service.core.types import Batch
from service.engine.execution.executor import MOST_IN_FLIGHT, DeviceWork
from service.engine.execution.in_flight import InFlightBatch, InFlightBatches
from service.engine.models.manager import ModelManager

LAST_SHARE = 1 / 4
"""Share of a running batch's expected time; once less is left, the next full batch is formed."""
INTERACTIVE_SECONDS = 10.0
"""Seconds after interactive work during which batch work may not use the second slot."""
HOST_SECONDS = 0.005
"""Least seconds before the expected end, in which the host packs, copies and launches a batch."""


class FormedBatch(NamedTuple):
    """A batch to launch.

    Attributes:
        timed: True if its time will tell the device's speed.
        yields: True if the batches beside it are computed first.
    """

    batch: Batch
    timed: bool = True
    yields: bool = False


class BatchFormer:
    """Forms the batches of one engine. Used by the loop's thread alone.

    Attributes:
        models: the models that it serves.
        in_flight: the batches launched and not delivered.
        waits_for_weights: True if all waiting work is for models that may not be loaded to the device yet.
    """

    def __init__(
        self, scheduler: Scheduler[Any], models: ModelManager, device: DeviceWork, throughput: ThroughputMeter
    ) -> None:
        self.models = models
        self.in_flight = InFlightBatches()
        self.waits_for_weights = False
        self._scheduler = scheduler
        self._device = device
        self._throughput = throughput
        self._was_small = False
        self._interactive_until = -math.inf

    def forms_after(self, now: float) -> float:
        """Seconds until the next batch may be formed, 0 for now; infinite while that waits for another event."""
        if not self._scheduler.waiting_tokens or len(self.in_flight) > MOST_IN_FLIGHT:  # Completed ones go out first.
            return math.inf
        running = self.in_flight.running
        if not running:
            return 0.0
        if len(running) >= MOST_IN_FLIGHT or not self._is_full() or self._leaves_place(running[0].batch, now):
            return math.inf
        return self._seconds_until_last_share(running[0], now)

    def next_batch(self, now: float) -> FormedBatch | None:
        """Form the batch that is to be launched now, if any."""
        if self.forms_after(now) > 0.0:
            formed = self._concurrent()
        else:
            waiting = self._scheduler.models()
            ready = (model for model in waiting if self.models.weights.is_ready(model, now, waiting))
            formed = next(filter(None, map(self._next_of, ready)), None)
            self.waits_for_weights = formed is None
        if formed is not None and not formed.yields:
            self._interactive_until = now + INTERACTIVE_SECONDS
        return formed

    def _leaves_place(self, running: Batch, now: float) -> bool:
        """True for batch work beside which interactive work may come soon."""
        return self._device.takes_turns and now < self._interactive_until and self._scheduler.is_batch_work(running)

    def _is_full(self) -> bool:
        """True when enough waits for a full batch of the next model."""
        models = self._scheduler.models()
        return bool(models) and self._scheduler.waiting_tokens >= self.models.guard.budget_tokens(models[0])

    def _seconds_until_last_share(self, head: InFlightBatch, now: float) -> float:
        expected = self._expected_seconds(head.batch.tokens)
        begun = self.in_flight.begun_seconds(head)
        left = expected - (0.0 if begun is None else now - begun)
        return max(left - max(LAST_SHARE * expected, HOST_SECONDS), 0.0)

    def _expected_seconds(self, tokens: int) -> float:
        """Seconds of the device for these tokens in a full batch; 0 while its speed is unknown."""
        speed = self._throughput.tokens_per_second
        return tokens / speed if speed else 0.0

    def _next_of(self, model: str) -> FormedBatch | None:
        """Form the next batch of one model; of clients with a small backlog, if others would fill it."""
        small, takes_turns = None, self._device.takes_turns
        if self._scheduler.stats(model).waiting_tokens >= self.models.guard.budget_tokens(model):
            small = self._small_batch(model)
        if small is not None:
            return FormedBatch(small, timed=not (takes_turns and self.in_flight.running))
        batch = self._scheduler.next_batch_of(model, self.models.guard.budget, mixed=not takes_turns)
        if batch is None:
            return None
        self._was_small = False
        return FormedBatch(batch, yields=takes_turns and self._scheduler.is_batch_work(batch))

    def _concurrent(self) -> FormedBatch | None:
        """Form a batch beside the running one, of the same model, where the two take turns.

        It holds all interactive work beside batch work, else small backlogs.
        """
        running = self.in_flight.running
        if not self._device.takes_turns or len(running) != 1 or not self._scheduler.waiting_tokens:
            return None
        batch = running[0].batch
        if self._scheduler.is_batch_work(batch):
            beside = self._scheduler.interactive_batch_of(batch.model, self.models.guard.budget, [batch])
        else:
            beside = self._small_batch(batch.model)
        return None if beside is None else FormedBatch(beside, timed=False)

    def _small_batch(self, model: str) -> Batch | None:
        """Form a batch of the clients with a small backlog, where that saves them enough; no two follow each other."""
        full_tokens = self.models.guard.budget_tokens(model)
        if self._was_small or self._expected_seconds(full_tokens) < WORTHWHILE_SECONDS:
            return None
        running = [launched.batch for launched in self.in_flight.running]
        batch = self._scheduler.small_backlog_batch_of(model, self.models.guard.budget, running)
        self._was_small = batch is not None
        return batch
