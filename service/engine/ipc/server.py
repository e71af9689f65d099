"""The engine's socket: messages of all workers come in, answers go out to the worker that asked.

Owns the ROUTER socket and the bell that wakes the loop out of its wait. Does not know what messages mean. Nothing is
ever dropped for a full queue: what may wait is bounded by admission, not by the socket.
"""

from __future__ import annotations

import contextlib
import logging
import socket
from collections.abc import Iterator

import zmq

from service.wire import Buffer, Message, WireError, pack, unpack

MOST_AT_ONCE = 1_000
"""Messages taken before the loop goes on to launch and deliver."""

log = logging.getLogger(__name__)


class Waker:
    """Rung by another thread or by a signal handler, heard by the loop's poll."""

    def __init__(self) -> None:
        self._ear, self._hammer = socket.socketpair()
        self._ear.setblocking(False)
        self._hammer.setblocking(False)

    def ring(self) -> None:
        """Wake the loop; ringing twice wakes it once."""
        with contextlib.suppress(BlockingIOError):  # It has rung so often that it is surely heard.
            self._hammer.send(b"\0")

    def fileno(self) -> int:
        return self._ear.fileno()

    def hammer_fileno(self) -> int:
        """For signal.set_wakeup_fd."""
        return self._hammer.fileno()

    def hush(self) -> None:
        """Forget all rings so far."""
        with contextlib.suppress(BlockingIOError):
            while self._ear.recv(4096):
                pass

    def close(self) -> None:
        self._ear.close()
        self._hammer.close()


class EngineSocket:
    """Where the workers come to the engine."""

    def __init__(self, address: str, bell: Waker) -> None:
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.setsockopt(zmq.SNDHWM, 0)
        self._socket.setsockopt(zmq.RCVHWM, 0)
        self._socket.setsockopt(zmq.ROUTER_HANDOVER, 1)
        self._socket.bind(address)
        self._bell = bell
        self._poller = zmq.Poller()
        self._poller.register(self._socket, zmq.POLLIN)
        self._poller.register(bell.fileno(), zmq.POLLIN)

    def receive(self, timeout_seconds: float) -> Iterator[tuple[bytes, Message, Buffer | None]]:
        """Wait until something happens or the time is up; then yield (worker, message, buffer) while there are any."""
        self._poller.poll(int(max(timeout_seconds, 0.0) * 1000))
        self._bell.hush()
        for _ in range(MOST_AT_ONCE):
            try:
                worker, *frames = self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            try:
                message, buffer = unpack(frames)
            except WireError as error:
                log.error("a worker sent what is no message", extra={"reason": str(error)})
            else:
                yield worker, message, buffer

    def send(self, worker: bytes, message: Message, buffer: Buffer | None = None) -> None:
        """Send to one worker; to one that is gone, nothing happens."""
        self._socket.send_multipart([worker, *pack(message, buffer)], copy=False)

    def close(self, linger_seconds: float = 2.0) -> None:
        """Deliver what is on its way, then close."""
        self._context.destroy(linger=int(linger_seconds * 1000))
