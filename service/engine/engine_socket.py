"""Engine socket: receives the messages of all workers and sends each answer to the worker that asked for it.

Owns the ROUTER socket, and the ways for other threads onto the loop's thread: `LoopCalls` for work, `Waker` to end its
wait. Does not know what messages mean. No message is dropped for a full queue: admission bounds the queue, not the
socket. Malformed messages come as a `WireError` with the reason.
"""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import zmq

from service.wire import Buffer, Message, WireError, delivery, messages_in, pack

MOST_AT_ONCE = 1_000
"""Most messages received before the loop goes on to launch and deliver."""
MOST_FRAME_BYTES = 1 << 30
"""Most bytes of a frame: ten times the token ids of the longest document. Only small deliveries hold several. A worker
that sends more is disconnected."""


Received = tuple[bytes, Message | WireError, Buffer | None]
"""Worker, message and the message's buffer."""


class EngineSocket:
    """Socket of one engine.

    Attributes:
        calls: work that other threads submit to the thread that receives.
    """

    def __init__(self, address: str, waker: Waker) -> None:
        self.calls = LoopCalls(waker.wake)
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.setsockopt(zmq.SNDHWM, 0)
        self._socket.setsockopt(zmq.RCVHWM, 0)
        self._socket.setsockopt(zmq.ROUTER_HANDOVER, 1)
        self._socket.setsockopt(zmq.MAXMSGSIZE, MOST_FRAME_BYTES)
        self._socket.bind(address)
        self._waker = waker
        self._readable = [waker.fileno(), self._option(zmq.FD)]

    def receive(self, timeout_seconds: float) -> Iterator[Received]:
        """Wait for a message, a wake-up or the timeout; then yield (worker, message, buffer) without waiting."""
        self._wait(time.monotonic() + timeout_seconds)
        received = 0
        while received < MOST_AT_ONCE and self._has_some():
            worker, *frames = self._socket.recv_multipart(zmq.NOBLOCK)
            for message, buffer in messages_in(frames):
                yield worker, message, buffer
                received += 1

    def _wait(self, end_seconds: float) -> None:
        """Wait for a message or a wake-up. The socket's descriptor signals each event once, other events too."""
        while not self._has_some():
            ready = select.select(self._readable, (), (), max(end_seconds - time.monotonic(), 0.0))[0]
            if self._waker.fileno() in ready:
                self._waker.clear()
            if not ready or self._waker.fileno() in ready:
                return

    def _has_some(self) -> bool:
        return bool(self._option(zmq.EVENTS) & zmq.POLLIN)

    def _option(self, name: int) -> int:
        value = self._socket.getsockopt(name)
        assert isinstance(value, int), f"{name} is no option of numbers"
        return value

    def send(self, worker: bytes, message: Message, buffer: Buffer | None = None) -> None:
        """Send to one worker; a message to a lost worker is discarded."""
        self._socket.send_multipart([worker, delivery(pack(message, buffer))])

    def close(self, linger_seconds: float = 2.0) -> None:
        """Send queued messages for at most this long, then close."""
        self._context.destroy(linger=int(linger_seconds * 1000))


Result = TypeVar("Result")


class LoopCalls:
    """Work submitted by other threads, run in order by the loop's thread.

    Args:
        wake: called after each submission.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self.wake = wake
        self._waiting: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()

    def submit(self, work: Callable[[], Result]) -> Future[Result]:
        """Have `work` run by the loop's thread, in its next round."""
        future: Future[Result] = Future()
        self._waiting.put((future, work))
        self.wake()
        return future

    def call(self, work: Callable[[], Result]) -> Result:
        """Submit `work`, wait for it, and return its result or raise its exception."""
        return self.submit(work).result()

    def run(self) -> None:
        """Run everything submitted; called by the loop's thread."""
        while True:
            try:
                future, work = self._waiting.get_nowait()
            except Empty:
                return
            try:
                future.set_result(work())
            except Exception as error:
                future.set_exception(error)


_AT_ONCE_BYTES = 4_096


class Waker:
    """A readable file descriptor for a poll, and the call that makes it readable."""

    def __init__(self) -> None:
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)

    def wake(self) -> None:
        """Make the descriptor readable; several calls before `clear` count as one."""
        with contextlib.suppress(BlockingIOError):  # The buffer is full, so the descriptor is readable.
            self._writer.send(b"\0")

    def clear(self) -> None:
        """Make the descriptor unreadable again."""
        with contextlib.suppress(BlockingIOError):
            while len(self._reader.recv(_AT_ONCE_BYTES)) == _AT_ONCE_BYTES:
                pass

    def fileno(self) -> int:
        return self._reader.fileno()

    def writer_fileno(self) -> int:
        return self._writer.fileno()

    def close(self) -> None:
        self._reader.close()
        self._writer.close()
