"""Request intake: handles the messages of workers.

Documents are admitted to the request table or refused; heartbeats keep the worker registry; cancelled documents leave.
"""

from __future__ import annotations

import logging
import math
from itertools import accumulate

import numpy as np
from msgspec.structs import replace

from service.core.admission.policy import too_long
from service.core.arrays import TokenIds
from service.core.scheduling.throughput import REACH, SAMPLE_SECONDS, ThroughputMeter
from service.core.sequences import divided
from service.core.tenants import UNLIMITED
from service.core.types import Priority, Refusal
from service.engine.lifecycle import Lifecycle
from service.engine.models.manager import ModelManager
from service.engine.requests.request_table import RequestTable
from service.engine.requests.status import StatusPublisher
from service.logs import LogEvent
from service.metrics.engine import EngineMetrics
from service.wire import Buffer, Cancelled, DebugSnapshotRequest, Hello, Message, Submitted, TurnedAway, WireError

log = logging.getLogger(__name__)


class RequestIntake:
    """Messages of workers in, changes of the request table out.

    Attributes:
        table: the admitted documents.
    """

    def __init__(
        self,
        table: RequestTable,
        models: ModelManager,
        lifecycle: Lifecycle,
        throughput: ThroughputMeter,
        status: StatusPublisher,
        metrics: EngineMetrics,
    ) -> None:
        self.table = table
        self._models = models
        self._lifecycle = lifecycle
        self._throughput = throughput
        self._status = status
        self._metrics = metrics

    def handle(self, worker: bytes, message: Message | WireError, buffer: Buffer | None, now: float) -> None:
        """Process one message. Whatever it is, the loop goes on, and a waiting worker gets an answer."""
        try:
            self._dispatch(worker, message, buffer, now)
        except Exception as error:
            log.exception("a message could not be handled", extra={"event": LogEvent.WORKER_MESSAGE_FAILED})
            self._reject(worker, WireError(type(error).__name__, getattr(message, "key", None)))

    def _dispatch(self, worker: bytes, message: Message | WireError, buffer: Buffer | None, now: float) -> None:
        match message:
            case Hello():
                self._record_heartbeat(worker, message, now)
            case Submitted():
                self._submit(worker, message, divided(message, np.asarray(buffer, dtype=np.int32)), now)
            case TurnedAway(code=code, documents=documents, tokens=tokens):
                self._throughput.arrived(tokens, now)
                self._throughput.refused(tokens, now)
                self._metrics.refusals.labels(code).inc(documents)
                self.table.history.turned_away(code, documents)
            case DebugSnapshotRequest(since=since):
                self._status.send_debug_snapshot(worker, since, self.table.history, now)
            case Cancelled(key=key):
                self.table.cancel(worker, key)
            case WireError():
                log.error(
                    "a worker sent what is no message",
                    extra={"event": LogEvent.WORKER_MESSAGE_FAILED, "reason": str(message)[:200]},
                )
                self._reject(worker, message)
            case _:
                self._reject(worker, WireError(f"{type(message).__name__} is not for an engine"))

    def _reject(self, worker: bytes, error: WireError) -> None:
        """Count a malformed message, and refuse its document if that is not admitted."""
        self._metrics.bad_messages.inc()
        if error.key is not None and error.key not in self.table.scheduler:
            refusal = Refusal(error.key, "internal_error", "The worker's message for the engine was not understood.")
            self.table.send_refusal(worker, refusal)

    def expire(self, now: float) -> None:
        """Refuse documents that can no longer meet their deadlines, and all once the drain timed out."""
        self.table.expire(now, self._throughput.tokens_per_second, self._throughput.alone_tokens_per_second)
        if self._lifecycle.drain_timed_out(now):
            self.table.refuse_all("draining", "the service stopped before the document was done")

    def forget_silent(self) -> None:
        """Remove workers that sent no heartbeat while this engine was awake, and their documents."""
        for worker in self._lifecycle.workers.forget_silent(self._lifecycle.awake_seconds):
            detail = "the worker that asked had too much to do, and was silent for too long"
            self.table.refuse_all("too_much_at_once", detail, worker=worker, retry_after_seconds=1.0)

    def _record_heartbeat(self, worker: bytes, hello: Hello, now: float) -> None:
        version, revisions = hello.models_version, hello.revisions
        awake = self._lifecycle.awake_seconds
        new = self._lifecycle.workers.record_heartbeat(
            worker,
            hello.active_requests,
            hello.closed,
            awake,
            version=version,
            revisions=revisions,
            worker_load=hello.worker_load,
        )
        if new:
            self._status.send_to(worker, now)

    def _submit(self, worker: bytes, submission: Submitted, tokens: TokenIds, now: float) -> None:
        if self._is_too_long(worker, submission):
            self._measure(worker, submission, tokens, now)
            return
        self._throughput.arrived(submission.tokens, now)
        speed = self._throughput.tokens_per_second
        if not len(self.table.scheduler):
            speed = self._throughput.alone_tokens_per_second(submission.model) or speed
        refusal = self._models.refusal_for(submission, now) or self.table.admit(worker, submission, tokens, now, speed)
        if refusal is not None:
            self._throughput.refused(submission.tokens, now)
            self.table.send_refusal(worker, refusal)

    def _is_too_long(self, worker: bytes, submission: Submitted) -> bool:
        """Refuse for good a document that would be late on an idle engine too; it is no demand and no load."""
        alone = self._throughput.alone_tokens_per_second(submission.model)
        decision = too_long(submission.tokens, alone, submission.allowed_seconds)
        if decision.refuses:
            self.table.send_refusal(worker, Refusal(submission.key, decision.code, decision.detail))
        return decision.refuses

    def _measure(self, worker: bytes, submission: Submitted, tokens: TokenIds, now: float) -> None:
        """Compute the first sequences of a refused document, if none of its model is here and no sample was of late.

        Otherwise an engine that was measured while it was cold or slowed down, and gets nothing but documents that are
        too long by that, would refuse them for ever. The worker ignores the scores; they are no demand. Of a document
        that a worker refused, its beginning comes, for which nothing is allowed.
        """
        model, scheduler = submission.model, self.table.scheduler
        if scheduler.stats(model).documents or not self._throughput.wants_sample(model, now):
            return
        sample = _sample(submission, self._models.guard.budget_tokens(model) / REACH, now + SAMPLE_SECONDS)
        if self._models.refusal_for(sample, now) is None:
            self.table.admit(worker, sample, tokens[: sample.tokens], now, None)


def _sample(submission: Submitted, tokens: float, deadline_seconds: float) -> Submitted:
    """The first sequences of a document, of about so many tokens, as a document whose answer nobody waits for."""
    enough = sum(before < tokens for before in accumulate(submission.lengths[:-1], initial=0))
    return replace(
        submission,
        key=f"{submission.key}-sample",
        lengths=submission.lengths[:enough],
        picture_of=submission.picture_of[:enough],
        priority=Priority.BATCH,
        deadline_seconds=deadline_seconds,
        quota=UNLIMITED,
        readmitted=True,
        allowed_seconds=math.inf,
    )
