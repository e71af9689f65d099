"""The engine's loop: receive, schedule, launch, deliver.

One thread owns the queue and the socket; a second one computes. While a batch runs, the queue fills by itself, so there
is no batching timer: a lone document starts at once. A second batch is formed ahead only when it is full; otherwise it
stays open for late arrivals until the device is free.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from service.core.errors import GleanerError
from service.core.lifecycle.drain import WorkerRegistry
from service.core.scheduling.scheduler import QueueLimits, Scheduler
from service.core.scheduling.shares import ModelQuotas
from service.core.scheduling.throughput import ThroughputMeter
from service.core.types import Batch
from service.engine.ending import ExitReason
from service.engine.execution.in_flight import InFlightBatch, InFlightBatches
from service.engine.ipc.loop_calls import LoopCalls
from service.engine.ipc.server import EngineSocket
from service.engine.lifecycle import Lifecycle
from service.engine.models.loaded_model import InitialModels
from service.engine.models.manager import ModelManager
from service.engine.models.startup import StartupState
from service.engine.models.weight_mover import WeightMover
from service.engine.requests.intake import RequestHandler
from service.engine.requests.request_table import RequestTable, refusal_of
from service.engine.requests.status import StatusPublisher
from service.metrics.engine import EngineMetrics
from service.settings import Settings

if TYPE_CHECKING:
    from service.engine.device.gpu_monitor import GpuMonitor

IDLE_SECONDS = 0.25
MOVING_SECONDS = 0.01
"""How often to look again while all that waits is for models that may not come to the device yet."""


class EngineLoop:
    """One engine from its first hello to its last answer."""

    def __init__(
        self,
        name: str,
        door: EngineSocket,
        loading: StartupState,
        mover: WeightMover,
        errands: LoopCalls,
        settings: Settings,
        metrics: EngineMetrics,
        clock: Callable[[], float] = time.monotonic,
        gpu: GpuMonitor | None = None,
    ) -> None:
        self._door = door
        self._loading = loading
        self._mover = mover
        self._errands = errands
        self._settings = settings
        self._metrics = metrics
        self._clock = clock
        self._models: ModelManager | None = None
        self._scheduler = Scheduler(QueueLimits(settings.queue_limit_tokens))
        self._desk = RequestTable(door, metrics)
        self._meter = ThroughputMeter()
        self._workers = WorkerRegistry(settings.front_workers)
        self._life = Lifecycle(loading, settings, metrics, gpu)
        self._report = StatusPublisher(
            name, door, self._workers, loading, self._life, self._scheduler, self._meter, metrics
        )
        self._reception = RequestHandler(self._workers, self._scheduler, self._desk, self._meter, self._report, metrics)
        self._flights = InFlightBatches()
        self._waits_for_weights = False

    def run(self, stopping: Callable[[], bool]) -> None:
        """Serve until told to stop and nobody waits any more, or until loading fails or the device is gone."""
        while not self._is_over():
            self._receive()
            self._go_on(stopping=stopping())
            self._expire()
            self._follow_memory()
            self._launch()
            self._deliver()
            self._watch_gpu()
            self._say()
        if self.ending is not None and self.ending.refuse:
            self._reception.give_up_all("engine_restarting", "the GPU is lost", retry_after_seconds=1.0)
        self._report.tell_all(self._models, self._clock())

    @property
    def ending(self) -> ExitReason | None:
        """Why it ended without being told to, if so."""
        return self._life.ending

    def _is_over(self) -> bool:
        busy = bool(len(self._scheduler) or self._flights)
        return self._life.is_over(self._workers, busy=busy, now=self._clock())

    # Receive

    def _receive(self) -> None:
        patience = MOVING_SECONDS if self._waits_for_weights else 0.0 if self._can_launch() else IDLE_SECONDS
        for worker, message, buffer in self._door.receive(patience):
            self._reception.handle(worker, message, buffer, self._models, self._clock())
        self._errands.run()

    def _go_on(self, *, stopping: bool) -> None:
        if self._models is None and self._loading.loaded is not None:
            self._models = self._open(self._loading.loaded)
        if self._life.go_on(stopping=stopping, now=self._clock()):
            self._report.tell_all(self._models, self._clock())

    def _open(self, loaded: InitialModels) -> ModelManager:
        shares = ModelQuotas(self._settings.model_weights, self._settings.model_rate_limits)
        self._life.begin_gpu_watch()
        models = ModelManager(loaded, self._scheduler, self._mover, self._metrics, shares)
        for revision, batch in loaded.timed.items():
            self._meter.warmed(batch, full_tokens=models.memory.budget_tokens(revision))
        self._loading.opened.set_result(models)
        self._report.show_start()
        return models

    # Schedule and launch

    def _expire(self) -> None:
        now = self._clock()
        self._reception.expire(now)
        if self._life.overdue(now):
            self._reception.give_up_all("draining", "the service stopped before the document was done")

    def _follow_memory(self) -> None:
        if self._models is not None:
            self._models.memory.follow(self._clock())

    def _can_launch(self) -> bool:
        if self._models is None or not self._scheduler.waiting_tokens:
            return False
        return self._flights.can_take_one(self._is_full)

    def _is_full(self) -> bool:
        """Whether what waits makes a whole batch of the model whose turn it is."""
        assert self._models is not None
        waiting = self._scheduler.models()
        return bool(waiting) and self._scheduler.waiting_tokens >= self._models.memory.budget_tokens(waiting[0])

    def _launch(self) -> None:
        while self._can_launch():
            assert self._models is not None
            batch = self._next_batch(self._models)
            self._waits_for_weights = batch is None
            if batch is None:
                return
            self._desk.started(batch)
            runner = self._models[batch.model].runner
            flight = runner.launch([self._desk.tokens(each) for each in batch.sequences])
            self._models.launched(batch.model, batch.tokens, self._clock())
            full_tokens = self._models.memory.budget_tokens(batch.model)
            self._flights.add(batch, flight, full_tokens)
            self._metrics.batches.fill.observe(batch.tokens / full_tokens)

    def _next_batch(self, models: ModelManager) -> Batch | None:
        """Of the most deserving model whose weights are on the device, or may come now."""
        waiting, now = self._scheduler.models(), self._clock()
        ready = (model for model in waiting if models.is_ready(model, now, waiting))
        return next(filter(None, (self._scheduler.next_batch_of(model, models.memory) for model in ready)), None)

    # Deliver

    def _deliver(self) -> None:
        for launched in self._flights.landed():
            if launched.flight.broken is not None:
                self._life.broke(launched.flight.broken)
                return
            self._learn(launched)
            self._answer(launched)

    def _learn(self, launched: InFlightBatch) -> None:
        assert self._models is not None
        batch, flight = launched.batch, launched.flight
        times = flight.begun_seconds, flight.ended_seconds
        seconds = self._meter.computed(batch.tokens, *times, full_tokens=launched.full_tokens)
        self._metrics.batches.count(batch.tokens, seconds, flight.splits, len(flight.out_of_memory))
        for shape in flight.out_of_memory:
            self._models.memory.failed(batch.model, shape, self._clock())

    def _answer(self, launched: InFlightBatch) -> None:
        batch, flight = launched.batch, launched.flight
        for sequence, outcome in zip(batch.sequences, flight.result(), strict=True):
            if isinstance(outcome, GleanerError):
                self._reception.give_up(refusal_of(sequence.key, outcome))
            else:
                self._desk.scored(sequence, outcome, launched.number, flight.seconds)
        self._scheduler.delivered(batch)
        for key in {sequence.key for sequence in batch.sequences}:
            if key not in self._scheduler:
                self._desk.clear(key)

    def _watch_gpu(self) -> None:
        if self._life.watch_gpu():
            self._go_on(stopping=False)

    def _say(self) -> None:
        now = self._clock()
        if not self._report.is_due(now):
            return
        self._reception.forget_silent(now)
        if self._models is not None:
            self._models.tidy(self._workers, now)
        self._report.show(self._models, now)
        self._report.tell_all(self._models, now)
