"""The engine's loop: receive, schedule, launch, deliver.

One thread owns the queue and the socket; a second one computes. While a batch runs, the queue fills by itself, so there
is no batching timer: a lone document starts at once. A second batch is formed ahead only when it is full; otherwise it
stays open for late arrivals until the device is free.

Every admitted document is answered exactly once: all its sequences as Scored, or one Refused.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from service.core.drain import Drain, Workers
from service.core.errors import GleanerError
from service.core.memory import MemoryModel
from service.core.meter import Meter
from service.core.scheduler import Limits, Scheduler
from service.core.sequence import Batch, Phase, Refusal, Shape, Submission
from service.engine.desk import Desk, Tokens, refusal_of
from service.engine.door import Door
from service.engine.ending import EXIT_BROKEN, Ending
from service.engine.errands import Errands
from service.engine.held import Loaded
from service.engine.loading import Loading
from service.engine.moving import Mover
from service.engine.residents import Residents, Shares
from service.metrics import EngineMetrics
from service.process import EXIT_DEVICE_LOST, EXIT_UNUSABLE
from service.settings import Settings
from service.wire import Buffer, Cancelled, Hello, Message, Status, Submitted, TurnedAway

if TYPE_CHECKING:
    from service.engine.gpu_watch import GpuWatch
    from service.engine.runner import Flight

IDLE_SECONDS = 0.25
STATUS_SECONDS = 0.5
MOST_IN_FLIGHT = 2
MOVING_SECONDS = 0.01
"""How often to look again while all that waits is for models that may not come to the device yet."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Launched:
    number: int
    batch: Batch
    flight: Flight


class EngineLoop:
    """One engine from its first hello to its last answer."""

    def __init__(
        self,
        name: str,
        door: Door,
        loading: Loading,
        mover: Mover,
        errands: Errands,
        settings: Settings,
        metrics: EngineMetrics,
        clock: Callable[[], float] = time.monotonic,
        gpu: GpuWatch | None = None,
    ) -> None:
        self._gpu = gpu
        self._ending: Ending | None = None
        self._name = name
        self._door = door
        self._loading = loading
        self._mover = mover
        self._errands = errands
        self._settings = settings
        self._metrics = metrics
        self._clock = clock
        self._loaded: Loaded | None = None
        self._models: Residents | None = None
        self._scheduler = Scheduler(Limits(settings.queue_limit_tokens))
        self._desk = Desk(door, metrics)
        self._meter = Meter()
        self._workers = Workers()
        self._drain: Drain | None = None
        self._flights: deque[_Launched] = deque()
        self._launches = 0
        self._waits_for_weights = False
        self._phase = Phase.SYNCING
        self._next_status_seconds = 0.0

    def run(self, stopping: Callable[[], bool]) -> None:
        """Serve until told to stop and nobody waits any more, or until loading fails or the device is gone."""
        while not self._is_over():
            self._receive()
            self._note_phase(stopping())
            self._expire()
            self._follow_memory()
            self._launch()
            self._deliver()
            self._watch_gpu()
            self._report()
        if self._ending is not None and self._ending.refuse:
            for key in self._desk.documents():
                self._give_up(Refusal(key, "engine_restarting", "the GPU is lost", retry_after_seconds=1.0))
        self._announce()

    @property
    def ending(self) -> Ending | None:
        """Why it ended without being told to, if so."""
        if self._loading.failure is not None:
            return Ending(EXIT_UNUSABLE, self._loading.failure, refuse=False)
        return self._ending

    def _is_over(self) -> bool:
        if self.ending is not None:
            return True
        if self._drain is None:
            return False
        now = self._clock()
        quiet = not self._drain.admitting(now) and self._workers.all_closed_and_quiet()
        done = quiet or self._drain.hopeless(now)
        return self._loaded is None or (done and not len(self._scheduler) and not self._flights)

    # Receive

    def _receive(self) -> None:
        patience = MOVING_SECONDS if self._waits_for_weights else 0.0 if self._can_launch() else IDLE_SECONDS
        for worker, message, buffer in self._door.receive(patience):
            self._handle(worker, message, buffer)
        self._errands.run()

    def _handle(self, worker: bytes, message: Message, buffer: Buffer | None) -> None:
        match message:
            case Hello():
                self._greet(worker, message)
            case Submitted():
                self._submit(worker, message, np.asarray(buffer, dtype=np.int32))
            case TurnedAway(code=code, documents=documents, tokens=tokens):
                self._meter.arrived(tokens, self._clock())
                self._meter.refused(tokens, self._clock())
                self._metrics.refusals.labels(code).inc(documents)
            case Cancelled(key=key):
                self._scheduler.cancel(key)
                self._desk.clear(key)
            case _:
                log.error("unexpected message", extra={"kind": type(message).__name__})

    def _greet(self, worker: bytes, hello: Hello) -> None:
        version, revisions, now = hello.models_version, hello.revisions, self._clock()
        new = self._workers.heard(
            worker, hello.active_requests, hello.closed, now, version=version, revisions=revisions
        )
        if new:
            self._door.send(worker, self._status())

    def _submit(self, worker: bytes, message: Submitted, tokens: Tokens) -> None:
        now = self._clock()
        submission = _submission(message)
        self._meter.arrived(submission.tokens, now)
        refusal = self._misfit(submission) or self._scheduler.admit(submission, now, self._meter.tokens_per_second)
        if refusal is None:
            self._desk.put(worker, message, tokens)
        else:
            self._meter.refused(submission.tokens, now)
            self._desk.turn_away(worker, refusal)

    def _misfit(self, submission: Submission) -> Refusal | None:
        if self._models is None:
            return Refusal(submission.key, "not_ready", "the engine is still loading", retry_after_seconds=1.0)
        return self._models.reason_against(submission, self._clock())

    # Schedule and launch

    def _expire(self) -> None:
        now = self._clock()
        for refusal in self._scheduler.expire(now, self._meter.tokens_per_second):
            self._desk.refuse(refusal)
        if self._drain is not None and self._drain.overdue(now):
            for key in self._desk.documents():
                self._give_up(Refusal(key, "draining", "the service stopped before the document was done"))

    def _follow_memory(self) -> None:
        if self._loaded is not None:
            self._loaded.memory.follow(self._clock())

    def _can_launch(self) -> bool:
        if self._loaded is None or not self._scheduler.waiting_tokens:
            return False
        if len(self._flights) > MOST_IN_FLIGHT:  # Those that have landed are delivered first.
            return False
        flying = sum(not launched.flight.done() for launched in self._flights)
        return not flying or (flying < MOST_IN_FLIGHT and self._is_full(self._loaded))

    def _is_full(self, loaded: Loaded) -> bool:
        """Whether what waits makes a whole batch of the model whose turn it is."""
        models = self._scheduler.models()
        return bool(models) and self._scheduler.waiting_tokens >= loaded.memory.budget_tokens(models[0])

    def _launch(self) -> None:
        while self._can_launch():
            assert self._loaded is not None
            assert self._models is not None
            batch = self._next_batch(self._models, self._loaded.memory)
            self._waits_for_weights = batch is None
            if batch is None:
                return
            self._desk.started(batch)
            runner = self._models[batch.model].runner
            flight = runner.launch([self._desk.tokens(each) for each in batch.sequences])
            self._models.launched(batch.model, batch.tokens, self._clock())
            self._launches += 1
            self._flights.append(_Launched(self._launches, batch, flight))
            self._metrics.batch_fill.observe(batch.tokens / self._loaded.memory.budget_tokens(batch.model))

    def _next_batch(self, models: Residents, memory: MemoryModel) -> Batch | None:
        """Of the most deserving model whose weights are on the device, or may come now."""
        waiting, now = self._scheduler.models(), self._clock()
        ready = (model for model in waiting if models.is_ready(model, now, waiting))
        return next(filter(None, (self._scheduler.next_batch_of(model, memory) for model in ready)), None)

    # Deliver

    def _deliver(self) -> None:
        while self._flights and self._flights[0].flight.done():
            launched = self._flights.popleft()
            flight, batch = launched.flight, launched.batch
            if flight.broken is not None:
                self._ending = self._gpu_lost() or Ending(EXIT_BROKEN, flight.broken, refuse=False)
                return
            seconds = self._meter.computed(batch.tokens, flight.begun_seconds, flight.ended_seconds)
            self._metrics.count_batch(batch.tokens, seconds, flight.splits, len(flight.out_of_memory))
            self._learn(batch.model, flight.out_of_memory)
            for sequence, outcome in zip(batch.sequences, flight.result(), strict=True):
                if isinstance(outcome, GleanerError):
                    self._give_up(refusal_of(sequence.key, outcome))
                else:
                    self._desk.scored(sequence, outcome, launched.number, flight.seconds)
            self._scheduler.delivered(batch)
            for key in {sequence.key for sequence in batch.sequences}:
                if key not in self._scheduler:
                    self._desk.clear(key)

    def _learn(self, model: str, out_of_memory: list[Shape]) -> None:
        assert self._loaded is not None
        for shape in out_of_memory:
            self._loaded.memory.failed(model, shape, self._clock())

    def _watch_gpu(self) -> None:
        for reading in self._gpu.take() if self._gpu is not None else ():
            self._metrics.show_gpu(reading)
        self._ending = self._ending or self._gpu_lost()
        if self._ending is not None:
            self._note_phase(stopping=False)

    def _gpu_lost(self) -> Ending | None:
        reason = self._gpu.lost() if self._gpu is not None else None
        self._metrics.gpu_lost.set(float(reason is not None))
        return None if reason is None else Ending(EXIT_DEVICE_LOST, reason, refuse=True)

    def _give_up(self, refusal: Refusal) -> None:
        """Refuse a document that had been admitted."""
        self._scheduler.cancel(refusal.key)
        self._desk.refuse(refusal)

    # Report

    def _note_phase(self, stopping: bool) -> None:
        if self._loaded is None and self._loading.loaded is not None:
            self._open(self._loading.loaded)
        if stopping and self._drain is None:
            self._drain = Drain(self._clock(), self._settings.drain_grace_seconds, self._settings.drain_seconds)
        phase = self._present_phase()
        if phase is not self._phase:
            self._phase = phase
            self._metrics.show_phase(phase)
            log.info("phase", extra={"phase": phase.value, "seconds": self._loading.seconds})
            self._announce()

    def _present_phase(self) -> Phase:
        if self.ending is not None:
            return Phase.FAILED
        if self._drain is not None:
            return Phase.DRAINING
        return self._loading.phase if self._loaded is None else Phase.READY

    def _open(self, loaded: Loaded) -> None:
        shares = Shares(self._settings.model_weights, self._settings.model_rate_limits)
        self._loaded = loaded
        if self._gpu is not None and self._settings.gpu_watch == "auto" and self._loading.gpu is not None:
            self._gpu.begin(self._loading.gpu)
        self._models = Residents(loaded, self._scheduler, self._mover, self._metrics, shares, self._clock())
        self._loading.opened.set_result(self._models)
        for part, seconds in self._loading.seconds.items():
            self._metrics.start_seconds.labels(part).set(seconds)

    def _report(self) -> None:
        now = self._clock()
        if now < self._next_status_seconds:
            return
        self._next_status_seconds = now + STATUS_SECONDS
        for worker in self._workers.forget_silent(now):
            for key in self._desk.documents(worker):
                self._give_up(Refusal(key, "internal_error", "the worker that asked was silent for too long"))
        if self._models is not None:
            self._models.tidy(self._workers, now)
            self._models.show()
        load = self._scheduler.load(now)
        backlog = self._meter.backlog_seconds(load.tokens, now)
        self._show_memory()
        self._metrics.show_load(load, backlog, self._meter.work_ratio(now), self._meter.tokens_per_second or 0.0)
        self._announce()

    def _show_memory(self) -> None:
        report = self._loaded.memory.report() if self._loaded is not None else None
        if report is not None:
            self._metrics.show_memory(report, self._budgets())

    def _budgets(self) -> dict[str, int]:
        """Token budgets by revision."""
        assert self._loaded is not None
        assert self._models is not None
        return {revision: self._loaded.memory.budget_tokens(revision) for revision in self._models.held()}

    def _announce(self) -> None:
        status = self._status()
        for worker in self._workers:
            self._door.send(worker, status)

    def _status(self) -> Status:
        now = self._clock()
        status = Status(
            engine=self._name,
            phase=self._phase,
            percent=self._loading.percent,
            detail=self.ending.reason if self.ending is not None else "",
            load=self._scheduler.load(now),
            tokens_per_second=self._meter.tokens_per_second,
            start_seconds=dict(self._loading.seconds),
        )
        if self._loaded is None or self._models is None:
            return status
        return replace(
            status,
            percent=100,
            admitting=self._drain is None or self._drain.admitting(now),
            models=self._models.statuses(),
            models_version=self._models.version,
            device=self._loaded.device,
            dtype=self._loaded.dtype,
        )


def _submission(message: Submitted) -> Submission:
    return Submission(
        key=message.key,
        model=message.model,
        lengths=message.lengths,
        client=message.client,
        priority=message.priority,
        deadline_seconds=message.deadline_seconds,
        attempt=message.attempt,
    )
