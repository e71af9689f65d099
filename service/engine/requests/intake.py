"""What workers say: documents that are admitted or refused at the door, and those that are given up later.

Every admitted document is answered exactly once: all its sequences as Scored, or one Refused.
"""

from __future__ import annotations

import logging

import numpy as np

from service.core.arrays import TokenIds
from service.core.lifecycle.drain import WorkerRegistry
from service.core.scheduling.scheduler import Scheduler
from service.core.scheduling.throughput import ThroughputMeter
from service.core.types import Refusal, Submission
from service.engine.models.manager import ModelManager
from service.engine.requests.request_table import RequestTable
from service.engine.requests.status import StatusPublisher
from service.metrics.engine import EngineMetrics
from service.wire import Buffer, Cancelled, Hello, Message, Submitted, TurnedAway

log = logging.getLogger(__name__)


class RequestHandler:
    """Between the workers and the queue. `models`: None until they are loaded."""

    def __init__(
        self,
        workers: WorkerRegistry,
        scheduler: Scheduler,
        desk: RequestTable,
        meter: ThroughputMeter,
        report: StatusPublisher,
        metrics: EngineMetrics,
    ) -> None:
        self._workers = workers
        self._scheduler = scheduler
        self._desk = desk
        self._meter = meter
        self._report = report
        self._metrics = metrics

    def handle(
        self, worker: bytes, message: Message, buffer: Buffer | None, models: ModelManager | None, now: float
    ) -> None:
        """Do what one message asks for."""
        match message:
            case Hello():
                self._greet(worker, message, models, now)
            case Submitted():
                self._submit(worker, message, np.asarray(buffer, dtype=np.int32), models, now)
            case TurnedAway(code=code, documents=documents, tokens=tokens):
                self._meter.arrived(tokens, now)
                self._meter.refused(tokens, now)
                self._metrics.refusals.labels(code).inc(documents)
            case Cancelled(key=key):
                self._scheduler.cancel(key)
                self._desk.clear(key)
            case _:
                log.error("unexpected message", extra={"kind": type(message).__name__})

    def expire(self, now: float) -> None:
        """Refuse those whose deadline can no longer be met."""
        for refusal in self._scheduler.expire(now, self._meter.tokens_per_second):
            self._desk.refuse(refusal)

    def forget_silent(self, now: float) -> None:
        """Forget workers that were not heard lately, and what they asked for."""
        for worker in self._workers.forget_silent(now):
            self.give_up_all("internal_error", "the worker that asked was silent for too long", worker=worker)

    def give_up(self, refusal: Refusal) -> None:
        """Refuse a document that had been admitted."""
        self._scheduler.cancel(refusal.key)
        self._desk.refuse(refusal)

    def give_up_all(
        self, code: str, detail: str, *, worker: bytes | None = None, retry_after_seconds: float | None = None
    ) -> None:
        """Refuse all that is admitted and not answered, or what this worker waits for."""
        for key in self._desk.documents(worker):
            self.give_up(Refusal(key, code, detail, retry_after_seconds))

    def _greet(self, worker: bytes, hello: Hello, models: ModelManager | None, now: float) -> None:
        version, revisions = hello.models_version, hello.revisions
        new = self._workers.heard(
            worker, hello.active_requests, hello.closed, now, version=version, revisions=revisions
        )
        if new:
            self._report.tell(worker, models, now)

    def _submit(
        self, worker: bytes, message: Submitted, tokens: TokenIds, models: ModelManager | None, now: float
    ) -> None:
        submission = _submission(message)
        self._meter.arrived(submission.tokens, now)
        refusal = _misfit(submission, models, now)
        refusal = refusal or self._scheduler.admit(submission, now, self._meter.tokens_per_second)
        if refusal is None:
            self._desk.put(worker, message, tokens)
        else:
            self._meter.refused(submission.tokens, now)
            self._desk.turn_away(worker, refusal)


def _misfit(submission: Submission, models: ModelManager | None, now: float) -> Refusal | None:
    if models is None:
        return Refusal(submission.key, "not_ready", "the engine is still loading", retry_after_seconds=1.0)
    return models.reason_against(submission, now)


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
