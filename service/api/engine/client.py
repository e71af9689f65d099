"""A worker's side of the wire: documents go to the engine, rows of logits come back, whatever happens to the engine.

The rule: a document that was accepted is answered. When an engine dies, everything pending is submitted once more to
the next one, within its deadline.
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
import numpy.typing as npt
import zmq
import zmq.asyncio

from service.api.engine.pending import InferenceResult, Pending
from service.api.engine.refusal_cache import RefusalCache
from service.api.engine.routing import is_serving
from service.core.errors import DeadlineExceeded
from service.core.types import Phase, Priority
from service.wire import (
    Buffer,
    Cancelled,
    Hello,
    Message,
    ModelStatus,
    Refused,
    Scored,
    Started,
    Status,
    Submitted,
    TurnedAway,
    pack,
    unpack,
)

HEARTBEAT_SECONDS = 0.5

Learn = Callable[[tuple[ModelStatus, ...]], Awaitable[None]]

log = logging.getLogger(__name__)


class EngineClient:
    """The one connection of a worker to the engine."""

    def __init__(self, address: str, active_requests: Callable[[], int], resubmitted: Callable[[], None]) -> None:
        self._address = address
        self._active_requests = active_requests
        self._resubmitted = resubmitted
        self._pending: dict[str, Pending] = {}
        self._numbers = itertools.count()
        self._used: Counter[str] = Counter()
        self._status = Status(engine="", phase=Phase.SYNCING)
        self._connected = False
        self._learn: Learn | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self.door = RefusalCache()

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
        for pending in self._pending.values():
            pending.dismiss()
        self._socket.disable_monitor()
        self._context.destroy(linger=0)

    def when_models_change(self, learn: Learn) -> None:
        """Have `learn` called with each new list of models."""
        self._learn = learn

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

    @contextmanager
    def using(self, revision: str) -> Iterator[None]:
        """Have the engine keep a revision for as long as a request that chose it lasts."""
        self._used[revision] += 1
        try:
            yield
        finally:
            self._release(revision)

    def using_while_alive(self, revision: str, owner: object) -> None:
        """The same for as long as `owner` exists, for work that may never begin."""
        self._used[revision] += 1
        weakref.finalize(owner, self._release, revision)

    def _release(self, revision: str) -> None:
        self._used[revision] -= 1
        if not self._used[revision]:
            del self._used[revision]

    async def judge(
        self,
        model: str,
        sequences: list[npt.NDArray[np.int32]],
        *,
        client: str,
        priority: Priority,
        deadline_seconds: float,
    ) -> InferenceResult:
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
            if pending.is_abandoned:
                self._send(Cancelled(key))

    def _enlist(
        self,
        model: str,
        sequences: list[npt.NDArray[np.int32]],
        client: str,
        priority: Priority,
        deadline_seconds: float,
    ) -> Pending:
        message = Submitted(
            key=f"{os.getpid()}-{next(self._numbers)}",
            model=model,
            lengths=tuple(map(len, sequences)),
            client=client,
            priority=priority,
            deadline_seconds=deadline_seconds,
            attempt=0,
        )
        pending = Pending(message, np.concatenate(sequences), asyncio.get_running_loop().create_future())
        self._pending[message.key] = pending
        if self.serving:
            self._submit(pending)
        return pending

    def _submit(self, pending: Pending) -> None:
        pending.submitted = self._send(pending.message, pending.tokens)

    def _send(self, message: Message, buffer: Buffer | None = None) -> bool:
        """Send now or not at all: false when no engine is connected."""
        sent = asyncio.ensure_future(self._socket.send_multipart(pack(message, buffer), zmq.NOBLOCK))
        return sent.done() and sent.exception() is None

    async def _listen(self) -> None:
        while True:
            frames = await self._socket.recv_multipart()
            try:
                self._handle(*unpack(frames))
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
                    pending.collect(message, np.asarray(buffer, dtype=np.float32))
            case Refused(key=key):
                if (pending := self._pending.get(key)) is not None:
                    pending.refuse(message)
            case _:
                log.error("unexpected message", extra={"kind": type(message).__name__})

    def _hear_status(self, status: Status) -> None:
        if status.engine != self._status.engine:
            for pending in list(self._pending.values()):
                pending.mourn()
        if self._learn is not None and status.models != self._status.models:
            self._tasks.append(asyncio.create_task(self._teach(self._learn, status.models)))
        self._status = status
        self._connected = True
        if self.serving:
            for pending in list(self._pending.values()):
                if pending.wants_submission:
                    if pending.again:
                        self._resubmitted()
                    self._submit(pending)

    async def _teach(self, learn: Learn, models: tuple[ModelStatus, ...]) -> None:
        try:
            await learn(models)
        except Exception:  # A request for that model fails by itself; no other may.
            log.exception("a new model could not be learned")
        finally:
            self._tasks.remove(asyncio.current_task())  # type: ignore[arg-type]

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
        for code, (documents, tokens) in self.door.take_counts().items():
            self._send(TurnedAway(code, documents, tokens))
        closed = self._status.phase is Phase.DRAINING and not self._status.admitting
        version, used = self._status.models_version, tuple(self._used)
        self._send(Hello(self._active_requests(), closed, models_version=version, revisions=used))
