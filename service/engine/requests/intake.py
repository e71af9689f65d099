"""Request intake: does what each message of a worker asks for.

Documents are admitted to the request table or refused; heartbeats keep the worker registry; cancelled documents leave.
"""

from __future__ import annotations

import logging

import numpy as np

from service.core.arrays import TokenIds
from service.core.scheduling.throughput import ThroughputMeter
from service.engine.lifecycle import Lifecycle
from service.engine.models.manager import ModelManager
from service.engine.requests.request_table import RequestTable
from service.engine.requests.status import StatusPublisher
from service.metrics.engine import EngineMetrics
from service.wire import Buffer, Cancelled, Hello, Message, Submitted, TurnedAway

log = logging.getLogger(__name__)


class RequestHandler:
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

    def handle(self, worker: bytes, message: Message, buffer: Buffer | None, now: float) -> None:
        """Process one message."""
        match message:
            case Hello():
                self._record_heartbeat(worker, message, now)
            case Submitted():
                self._submit(worker, message, np.asarray(buffer, dtype=np.int32), now)
            case TurnedAway(code=code, documents=documents, tokens=tokens):
                self._throughput.arrived(tokens, now)
                self._throughput.refused(tokens, now)
                self._metrics.refusals.labels(code).inc(documents)
            case Cancelled(key=key):
                self.table.cancel(key)
            case _:
                log.error("unexpected message", extra={"kind": type(message).__name__})

    def expire(self, now: float) -> None:
        """Refuse what can no longer meet its deadline, and everything once the drain timed out."""
        self.table.expire(now, self._throughput.tokens_per_second)
        if self._lifecycle.drain_timed_out(now):
            self.table.refuse_all("draining", "the service stopped before the document was done")

    def forget_silent(self, now: float) -> None:
        """Remove workers without a heartbeat, and their documents."""
        for worker in self._lifecycle.workers.forget_silent(now):
            self.table.refuse_all("internal_error", "the worker that asked was silent for too long", worker=worker)

    def _record_heartbeat(self, worker: bytes, hello: Hello, now: float) -> None:
        version, revisions = hello.models_version, hello.revisions
        new = self._lifecycle.workers.record_heartbeat(
            worker, hello.active_requests, hello.closed, now, version=version, revisions=revisions
        )
        if new:
            self._status.send_to(worker, now)

    def _submit(self, worker: bytes, submission: Submitted, tokens: TokenIds, now: float) -> None:
        self._throughput.arrived(submission.tokens, now)
        refusal = self._models.refusal_for(submission, now) or self.table.admit(
            worker, submission, tokens, now, self._throughput.tokens_per_second
        )
        if refusal is not None:
            self._throughput.refused(submission.tokens, now)
            self.table.send_refusal(worker, refusal)
