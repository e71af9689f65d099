"""The engine's client in a worker: submits documents and collects their logits, across deaths of the engine.

The rule: a document that was accepted is answered. When an engine dies, every pending document is submitted again to
the next engine, within its deadline.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import time
import weakref
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import numpy as np
from msgspec.structs import replace

from service.api.engine.connection import EngineConnection
from service.api.engine.resubmission import InferenceResult, Kept, Pending, SubmissionQueue
from service.api.engine.routing import is_serving, may_serve_soon, queue_of
from service.core.admission.policy import QueueState
from service.core.admission.size import RefusalCache
from service.core.arrays import TokenIds
from service.core.debug_snapshot import DebugSnapshot
from service.core.drain import NONE_FOLLOWS
from service.core.liveness import HeartbeatTimeout
from service.core.sequences import joined
from service.core.types import Phase
from service.core.worker_load import WorkerLoad
from service.logs import LogEvent
from service.wire import (
    Buffer,
    Cancelled,
    DebugSnapshotReply,
    DebugSnapshotRequest,
    Hello,
    Message,
    ModelStatus,
    Refused,
    Scored,
    Started,
    Status,
    Submitted,
    Tagged,
    TurnedAway,
    tags_in,
)


class RevisionLeases:
    """The revisions in use, counted; each heartbeat reports them to the engine."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    @property
    def revisions(self) -> tuple[str, ...]:
        return tuple(self._counts)

    @contextmanager
    def hold(self, revision: str) -> Iterator[None]:
        """Lease `revision` until the context ends."""
        self._counts[revision] += 1
        try:
            yield
        finally:
            self._release(revision)

    def hold_while_alive(self, revision: str, owner: object) -> None:
        """Lease `revision` until `owner` is garbage-collected.

        For streaming responses: their generator may never be started, so no `finally` in it would run.
        """
        self._counts[revision] += 1
        weakref.finalize(owner, self._release, revision)

    def _release(self, revision: str) -> None:
        self._counts[revision] -= 1
        if not self._counts[revision]:
            del self._counts[revision]


MOST_SILENCE_SECONDS = 5.0
"""Seconds of silence after which an engine gets no new requests; it sends its status twice a second."""

LATELY_SHARE = 0.05
"""Smoothing factor of the mean document length."""
OBSERVE_SECONDS = 1.0
"""Seconds to wait for an engine's description of itself."""
OnModels = Callable[[tuple[ModelStatus, ...]], Awaitable[None]]

log = logging.getLogger(__name__)


class EngineClient:
    """A worker's documents at the engine, what the engine last reported, and the revisions that requests use."""

    def __init__(self, address: str, active_requests: Callable[[], int], on_resubmission: Callable[[], None]) -> None:
        self._active_requests = active_requests
        self._on_resubmission = on_resubmission
        self._worker_load: Callable[[], WorkerLoad] = WorkerLoad
        self._connection = EngineConnection(
            address, heartbeat=self._heartbeat, on_message=self._on_message, on_disconnect=self._on_disconnect
        )
        self._submissions = SubmissionQueue(self._connection.deliver)
        self._numbers = itertools.count()
        self._pending: dict[str, Pending] = {}
        self._status = Status(engine="", phase=Phase.SYNCING)
        self.heard = asyncio.Event()
        self._connected = False
        self._opened = False
        self._silence = HeartbeatTimeout()
        self._on_models: OnModels | None = None
        self._notifications: set[asyncio.Task[None]] = set()
        self._tokens_per_document = 0.0
        self._snapshot_waiters: dict[int, asyncio.Future[DebugSnapshot]] = {}
        self.leases = RevisionLeases()
        self.refusals = RefusalCache()

    def start(self) -> None:
        """Connect and listen; does not wait for the engine."""
        self._connection.open()

    async def stop(self) -> None:
        """Fail what is pending, stop listening and close."""
        for task in self._notifications:
            task.cancel()
        await asyncio.gather(*self._notifications, return_exceptions=True)
        for pending in self._pending.values():
            pending.abort()
        self._status = replace(self._status, phase=Phase.DRAINING)
        await self._connection.close()

    def on_models_change(self, callback: OnModels) -> None:
        """Call `callback` with every new list of models."""
        self._on_models = callback

    def report_load(self, worker_load: Callable[[], WorkerLoad]) -> None:
        """Ask `worker_load` with every heartbeat how busy this worker is."""
        self._worker_load = worker_load

    @property
    def status(self) -> Status:
        return self._status

    @property
    def starting(self) -> bool:
        """True as long as the first engine starts: no engine has been ready yet, and one may soon be."""
        return not self._opened and may_serve_soon(self._status)

    @property
    def connected(self) -> bool:
        """True when an engine has sent its status since the last disconnect, and is not silent."""
        return self._connected and self._silence.seconds < MOST_SILENCE_SECONDS

    @property
    def serving(self) -> bool:
        """True when an engine is connected and answers submissions."""
        return is_serving(self._status, self.connected)

    @property
    def queue(self) -> QueueState:
        return queue_of(self._status)

    @property
    def backlog_seconds(self) -> float:
        """Seconds that the engine needs for what waits in its queue, as it last said."""
        return self.queue.seconds_of_work or 0.0

    def count_unread(self, code: str, documents: int) -> None:
        """Count documents that were refused unread, as if they were as long as those of late."""
        self.refusals.count(code, documents, round(documents * self._tokens_per_document))

    def new_key(self) -> str:
        """A key for a document, unique among all documents of all workers."""
        return f"{os.getpid()}-{next(self._numbers)}"

    async def debug_snapshot(self, since: int) -> DebugSnapshot | None:
        """What the engine does, with the batches after the one of this number; None if it does not answer soon."""
        asked = self._snapshot_waiters.get(since)
        if asked is None:
            asked = self._snapshot_waiters[since] = asyncio.get_running_loop().create_future()
            self._connection.send(DebugSnapshotRequest(since))
        try:
            async with asyncio.timeout(OBSERVE_SECONDS):
                return await asyncio.shield(asked)
        except TimeoutError:
            self._snapshot_waiters.pop(since, None)
            return None

    async def infer(self, submission: Submitted, sequences: list[TokenIds], kept: Kept) -> InferenceResult:
        """The logits of one document's sequences, whose lengths the submission gives; `kept`: which rows of each.

        The caller cancels it at the document's deadline.

        Raises:
            GleanerError: the engine's refusal, as the error that its code names; also where no engine will follow it.
        """
        pending = Pending(submission, joined(sequences), kept, asyncio.get_running_loop().create_future())
        self._pending[submission.key] = pending
        if self.serving:
            self._submissions.add(pending)
        elif self._status.final:
            pending.refuse(_refusal_by_the_last(submission.key))
        try:
            return await pending.result
        finally:
            if not pending.is_too_long:
                self._tokens_per_document += LATELY_SHARE * (submission.tokens - self._tokens_per_document)
            del self._pending[submission.key]
            if pending.is_abandoned:
                self._connection.send(Cancelled(submission.key))

    def windows(self, key: str) -> tuple[int, int]:
        """Count a document's windows that have come back, and all; (0, 0) for one that is not here any more."""
        pending = self._pending.get(key)
        return (0, 0) if pending is None else pending.windows

    def _on_message(self, message: Message, buffer: Buffer | None) -> None:
        self._silence.heard()
        match message:
            case Status():
                self._on_status(message)
            case Started(keys=keys):
                for key in keys:
                    if (pending := self._pending.get(key)) is not None:
                        pending.running = True
            case Scored(key=key):
                if (pending := self._pending.get(key)) is not None:
                    pending.collect(message, np.asarray(buffer, dtype=np.float32))
            case Tagged() if buffer is not None:
                for key, tags in tags_in(message, buffer):
                    if (pending := self._pending.get(key)) is not None:
                        pending.take_tags(message, tags)
            case DebugSnapshotReply(since=since, snapshot=snapshot):
                if (asked := self._snapshot_waiters.pop(since, None)) is not None and not asked.done():
                    asked.set_result(snapshot)
            case Refused(key=key):
                if (pending := self._pending.get(key)) is not None:
                    pending.refuse(message)
            case _:
                kind = type(message).__name__
                log.error("unexpected message", extra={"event": LogEvent.ENGINE_MESSAGE_UNEXPECTED, "kind": kind})

    def _on_status(self, status: Status) -> None:
        if status.engine != self._status.engine:
            for pending in list(self._pending.values()):
                pending.on_engine_death()
        if self._on_models is not None and status.models != self._status.models:
            notification = asyncio.create_task(_notify(self._on_models, status.models))
            self._notifications.add(notification)
            notification.add_done_callback(self._notifications.discard)
        self._status = status
        self._connected = True
        self.heard.set()
        self._opened = self._opened or self.serving
        if self.serving:
            self._submit_all()
        elif status.final:
            for key, pending in list(self._pending.items()):
                pending.refuse(_refusal_by_the_last(key))
            self._connection.beat()  # The engine ends once it knows that its last word has come.

    def _submit_all(self) -> None:
        for pending in list(self._pending.values()):
            if pending.needs_submission and pending not in self._submissions:
                if pending.resubmitted:
                    self._on_resubmission()
                self._submissions.add(pending)

    def _on_disconnect(self) -> None:
        self._connected = False

    def _heartbeat(self) -> Iterator[Message]:
        self._note_silence()
        for code, (documents, tokens) in self.refusals.take_counts().items():
            yield TurnedAway(code, documents, tokens)
        drained = self._status.phase is Phase.DRAINING and not self._status.admitting
        yield Hello(
            self._active_requests(),
            drained or self._status.final,
            models_version=self._status.models_version,
            revisions=self.leases.revisions,
            worker_load=self._worker_load(),
        )

    def _note_silence(self) -> None:
        """Let the engine's silence grow; once it is too long, new requests are refused and /readyz says so."""
        heard = self.connected
        self._silence.tick(time.monotonic())
        if heard and not self.connected:
            log.error("the engine is silent", extra={"event": LogEvent.ENGINE_SILENT, "engine": self._status.engine})


def _refusal_by_the_last(key: str) -> Refused:
    """The refusal of a document that an engine was to have that none follows."""
    return Refused(key, "engine_restarting", NONE_FOLLOWS, retry_after_seconds=1.0)


async def _notify(callback: OnModels, models: tuple[ModelStatus, ...]) -> None:
    try:
        await callback(models)
    except Exception:  # Requests for the model in question fail one by one; all others must not.
        log.exception("a new model could not be learned", extra={"event": LogEvent.TOKENIZERS_FAILED})
