"""A worker's side of the wire: documents go to the engine, rows of logits come back, whatever happens to the engine.

The rule: a document that was accepted is answered. When an engine dies, everything pending is submitted once more to
the next one, within its deadline. A document that was running at two deaths is refused as poison, so that it cannot
take a third engine with it. (The engine runs what was running at one death alone, so no neighbour is blamed.)
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import zmq
import zmq.asyncio

from service.api.serving import is_serving
from service.core.errors import BY_CODE, DeadlineExceeded, GleanerError, InternalError, PoisonDocument
from service.core.sequence import Phase, Priority
from service.wire import Buffer, Cancelled, Hello, Message, Refused, Scored, Started, Status, Submitted, pack, unpack

HEARTBEAT_SECONDS = 0.5
MOST_DEATHS = 2

log = logging.getLogger(__name__)
Rows = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the engine says of one document: logits `[tokens, labels]` of each sequence, special tokens included.

    `compute_seconds` is the time of the batches that it ran in; `queue_seconds` all other time in the engine.
    """

    rows: list[Rows]
    queue_seconds: float
    compute_seconds: float


@dataclass(slots=True)
class _Pending:
    message: Submitted
    tokens: npt.NDArray[np.int32]
    answer: asyncio.Future[Judgement]
    begun_seconds: float
    rows: dict[int, Rows] = field(default_factory=dict)
    batches: dict[int, float] = field(default_factory=dict)
    submitted: bool = False
    running: bool = False
    deaths: int = 0


class EngineClient:
    """The one connection of a worker to the engine."""

    def __init__(self, address: str, active_requests: Callable[[], int], resubmitted: Callable[[], None]) -> None:
        self._address = address
        self._active_requests = active_requests
        self._resubmitted = resubmitted
        self._pending: dict[str, _Pending] = {}
        self._numbers = itertools.count()
        self._status = Status(engine="", phase=Phase.SYNCING)
        self._connected = False
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Connect and begin to listen; does not wait for the engine."""
        self._context = zmq.asyncio.Context()
        self._socket = self._context.socket(zmq.DEALER)
        for option, value in ((zmq.SNDHWM, 0), (zmq.RCVHWM, 0), (zmq.IMMEDIATE, 1), (zmq.RECONNECT_IVL, 20)):
            self._socket.setsockopt(option, value)
        self._socket.setsockopt(zmq.RECONNECT_IVL_MAX, 200)
        monitor = self._socket.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED)
        self._socket.connect(self._address)
        loops = (self._listen(), self._watch_connection(monitor), self._beat())
        self._tasks = [asyncio.create_task(loop) for loop in loops]

    async def stop(self) -> None:
        """Stop listening and close; what is pending fails."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._socket.disable_monitor()
        self._context.destroy(linger=0)

    @property
    def status(self) -> Status:
        """What the engine last said of itself; while it is gone, the phase says so."""
        return self._status

    @property
    def connected(self) -> bool:
        """Whether an engine process is at the other end."""
        return self._connected

    @property
    def serving(self) -> bool:
        """Whether submissions are answered now."""
        return is_serving(self._status, self._connected)

    async def judge(
        self,
        model: str,
        sequences: list[npt.NDArray[np.int32]],
        *,
        client: str,
        priority: Priority,
        deadline_seconds: float,
    ) -> Judgement:
        """Have one document's sequences judged by `model` (a revision).

        Raises:
            GleanerError: the engine's refusal, as the error that its code names.
            DeadlineExceeded: the deadline passed meanwhile.
        """
        pending = self._enlist(model, sequences, client, priority, deadline_seconds)
        key = pending.message.key
        try:
            async with asyncio.timeout(deadline_seconds - time.monotonic()):
                return await pending.answer
        except TimeoutError:
            raise DeadlineExceeded("the deadline passed while the document was judged") from None
        finally:
            del self._pending[key]
            if pending.submitted and not _is_answered(pending.answer):
                self._send(Cancelled(key))

    def _enlist(
        self,
        model: str,
        sequences: list[npt.NDArray[np.int32]],
        client: str,
        priority: Priority,
        deadline_seconds: float,
    ) -> _Pending:
        message = Submitted(
            key=f"{os.getpid()}-{next(self._numbers)}",
            model=model,
            lengths=tuple(map(len, sequences)),
            client=client,
            priority=priority,
            deadline_seconds=deadline_seconds,
            attempt=0,
        )
        answer = asyncio.get_running_loop().create_future()
        pending = _Pending(message, np.concatenate(sequences), answer, time.monotonic())
        self._pending[message.key] = pending
        if self.serving:
            self._submit(pending)
        return pending

    def _submit(self, pending: _Pending) -> None:
        pending.submitted = self._send(pending.message, pending.tokens)

    def _send(self, message: Message, buffer: Buffer | None = None) -> bool:
        """Send now or not at all: false when no engine is connected."""
        try:
            zmq.Socket.send_multipart(self._socket, pack(message, buffer), zmq.NOBLOCK)
        except zmq.Again:
            return False
        return True

    async def _listen(self) -> None:
        while True:
            message, buffer = unpack(await self._socket.recv_multipart())
            try:
                self._handle(message, buffer)
            except Exception:
                log.exception("a message of the engine could not be handled")

    def _handle(self, message: Message, buffer: Buffer | None) -> None:
        match message:
            case Status():
                self._hear_status(message)
            case Started(keys=keys):
                for key in keys:
                    if (pending := self._pending.get(key)) is not None:
                        pending.running = True
            case Scored(key=key):
                if (pending := self._pending.get(key)) is not None:
                    _collect(pending, message, np.asarray(buffer, dtype=np.float32))
            case Refused(key=key):
                if (pending := self._pending.get(key)) is not None:
                    _refuse(pending, message)
            case _:
                log.error("unexpected message", extra={"kind": type(message).__name__})

    def _hear_status(self, status: Status) -> None:
        if status.engine != self._status.engine:
            for pending in list(self._pending.values()):
                _mourn(pending)
        self._status = status
        self._connected = True
        if self.serving:
            for pending in list(self._pending.values()):
                if not pending.submitted and not pending.answer.done():
                    self._resubmitted()
                    self._submit(pending)

    async def _watch_connection(self, monitor: zmq.asyncio.Socket) -> None:
        from zmq.utils.monitor import parse_monitor_message

        while True:
            event = parse_monitor_message(await monitor.recv_multipart())
            self._connected = event["event"] == zmq.EVENT_HANDSHAKE_SUCCEEDED and self._connected
            if event["event"] == zmq.EVENT_HANDSHAKE_SUCCEEDED:
                self._greet()

    async def _beat(self) -> None:
        while True:
            self._greet()
            await asyncio.sleep(HEARTBEAT_SECONDS)

    def _greet(self) -> None:
        closed = self._status.phase is Phase.DRAINING and not self._status.admitting
        self._send(Hello(active_requests=self._active_requests(), closed=closed))


def _is_answered(answer: asyncio.Future[Judgement]) -> bool:
    return answer.done() and not answer.cancelled()


def _collect(pending: _Pending, scored: Scored, logits: Rows) -> None:
    pending.rows[scored.index] = logits.reshape(scored.tokens, scored.labels)
    pending.batches[scored.batch] = scored.batch_seconds
    if len(pending.rows) == len(pending.message.lengths) and not pending.answer.done():
        rows = [pending.rows[index] for index in range(len(pending.rows))]
        compute = sum(pending.batches.values())
        elapsed = time.monotonic() - pending.begun_seconds
        pending.answer.set_result(Judgement(rows, max(elapsed - compute, 0.0), compute))


def _refuse(pending: _Pending, refused: Refused) -> None:
    if refused.code == "not_ready":  # Sent to an engine that died, read by the next one: it will be sent again.
        pending.submitted = False
    elif not pending.answer.done():
        error: type[GleanerError] = BY_CODE.get(refused.code, InternalError)
        pending.answer.set_exception(error(refused.detail, retry_after_seconds=refused.retry_after_seconds))


def _mourn(pending: _Pending) -> None:
    """The engine died: begin again, unless this document was with two engines when they died."""
    pending.deaths += pending.running
    if pending.deaths >= MOST_DEATHS and not pending.answer.done():
        pending.answer.set_exception(PoisonDocument("the engine died twice while it worked on this document"))
    again = pending.message
    pending.message = Submitted(
        key=again.key,
        model=again.model,
        lengths=again.lengths,
        client=again.client,
        priority=again.priority,
        deadline_seconds=again.deadline_seconds,
        attempt=pending.deaths,
    )
    pending.rows.clear()
    pending.batches.clear()
    pending.submitted = pending.running = False
