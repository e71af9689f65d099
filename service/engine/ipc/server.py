"""Engine socket: receives the messages of all workers and sends each answer to the worker that asked.

Owns the ROUTER socket. Knows nothing of what messages mean. No message is dropped for a full queue: admission bounds
what waits, not the socket. Bytes that are no message come as the `WireError` that says why.
"""

from __future__ import annotations

import select
import time
from collections.abc import Iterator

import zmq

from service.engine.ipc.loop_calls import LoopCalls
from service.engine.ipc.waker import Waker
from service.wire import Buffer, Message, WireError, delivery, messages_in, pack

MOST_AT_ONCE = 1_000
"""Messages received before the loop goes on to launch and deliver."""
MOST_FRAME_BYTES = 1 << 30
"""Ten times the token ids of the longest document, and more than one is in small deliveries only; whoever sends more is
disconnected."""


Received = tuple[bytes, Message | WireError, Buffer | None]
"""Who sent it, what it is, and its buffer."""


class EngineSocket:
    """The socket of one engine.

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
        """Wait for a message or a wake-up. The socket's descriptor tells of news once, and not only of messages."""
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
        """Send to one worker; a message to a worker that is gone is discarded."""
        self._socket.send_multipart([worker, delivery(pack(message, buffer))])

    def close(self, linger_seconds: float = 2.0) -> None:
        """Send what is queued, for at most this long, then close."""
        self._context.destroy(linger=int(linger_seconds * 1000))
