"""Batch former: which batch is launched next, and when.

While a batch runs, the queue fills by itself, so there is no batching timer: a lone document is launched at once. A
second batch is formed ahead only when it is full, and shortly before the device is free; otherwise it stays open for
late arrivals. Who has little waiting gets an express batch where others would fill his batch up (`express_lane`): as
the next one, or beside the one that runs where the device, a CPU, shares itself among batches.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from service.core.scheduling.batch_forecast import BatchForecast
from service.core.scheduling.express_lane import ExpressLane
from service.core.scheduling.scheduler import Scheduler
from service.core.types import Batch
from service.engine.execution.executor import DeviceWork
from service.engine.execution.in_flight import BatchPlace, InFlightBatch, InFlightBatches
from service.engine.models.manager import ModelManager


class FormedBatch(NamedTuple):
    """A batch that is to be launched, and its place among those in flight."""

    batch: Batch
    place: BatchPlace = BatchPlace.ORDINARY


class BatchFormer:
    """Forms the batches of one engine. Used by the loop's thread alone.

    Attributes:
        models: those that it serves.
        forecast: what their batches take of the device.
        in_flight: the batches that were launched and are not delivered.
        waits_for_weights: all that waits is for models that may not be loaded to the device yet.
    """

    def __init__(self, scheduler: Scheduler[Any], models: ModelManager, device: DeviceWork) -> None:
        self.forecast = BatchForecast()
        self.in_flight = InFlightBatches(self.forecast)
        self.waits_for_weights = False
        self._scheduler = scheduler
        self.models = models
        self._device = device
        self._express = ExpressLane()
        self._was_express = False

    def forms_after(self, now: float) -> float:
        """Seconds until a batch may be formed, 0 for now; infinite while that waits for another event than time."""
        if not self._scheduler.waiting_tokens:
            return math.inf
        return self.in_flight.accepts_after(self._is_full, now)

    def next_batch(self, now: float) -> FormedBatch | None:
        """Form the batch that is to be launched now, if any."""
        if self.forms_after(now) > 0.0:
            batch = self._beside(now)
            return None if batch is None else FormedBatch(batch, BatchPlace.BESIDE)
        waiting = self._scheduler.models()
        ready = (model for model in waiting if self.models.is_ready(model, now, waiting))
        formed = next(filter(None, map(self._next_of, ready)), None)
        self.waits_for_weights = formed is None
        return formed

    def learn(self, launched: InFlightBatch, seconds: float) -> None:
        """Learn what a completed batch took of the device."""
        self._express.earn(seconds)
        self.forecast.learn(launched.batch.model, launched.batch.tokens, seconds)

    def _is_full(self) -> bool:
        """True when what waits makes a full batch of the model that is served next."""
        models = self._scheduler.models()
        return bool(models) and self._scheduler.waiting_tokens >= self.models.guard.budget_tokens(models[0])

    def _next_of(self, model: str) -> FormedBatch | None:
        """The next batch of one model: an express one if others would fill it up, but not two in a row."""
        express, full_tokens = None, self.models.guard.budget_tokens(model)
        if not self._was_express and self._scheduler.stats(model).waiting_tokens >= full_tokens:
            express = self._express_batch(model, self.forecast.seconds(model, full_tokens))
        if express is not None:
            self._was_express = True
            return FormedBatch(express, BatchPlace.ORDINARY if self._device.side_by_side else BatchPlace.BETWEEN)
        batch = self._scheduler.next_batch_of(model, self.models.guard.budget)
        if batch is None:
            return None
        self._was_express = False
        return FormedBatch(batch)

    def _beside(self, now: float) -> Batch | None:
        """An express batch beside those that run, of the same model, where the device shares itself; one at a time."""
        if not self._device.side_by_side or not self._scheduler.waiting_tokens:
            return None
        running = self.in_flight.running
        if not running or any(each.is_beside for each in running):
            return None
        saved_seconds = self.in_flight.seconds_waited_for(now)
        return self._express_batch(running[0].batch.model, saved_seconds, is_beside=True)

    def _express_batch(self, model: str, saved_seconds: float, *, is_beside: bool = False) -> Batch | None:
        """The documents of those who have little waiting, if that saves them so much and the device affords it."""
        cost_seconds = self._express.cost(self.forecast.base_seconds(model), saved_seconds, is_beside=is_beside)
        if cost_seconds is None:
            return None
        running = [each.batch for each in self.in_flight.running]
        batch = self._scheduler.light_batch_of(model, self.models.guard.budget, running)
        if batch is not None:
            self._express.spend(cost_seconds)
        return batch
