"""Engine socket of a worker (DEALER): sends and receives messages, sends heartbeats, notices disconnects.

Does not know what messages mean. Never waits for the engine: a message that cannot be sent now is not sent at all.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable

import zmq
import zmq.asyncio
from zmq.utils.monitor import parse_monitor_message

from service.logs import LogEvent
from service.wire import Buffer, Message, Parts, WireError, delivery, messages_in, pack

HEARTBEAT_SECONDS = 0.5
MOST_AT_ONCE = 8
"""Messages received before the event loop goes on to other work; one may be about `MOST_TAGGED` documents."""
_OPTIONS = (
    (zmq.SNDHWM, 0),
    (zmq.RCVHWM, 0),
    (zmq.IMMEDIATE, 1),  # Nothing is queued for an engine that is not there.
    (zmq.RECONNECT_IVL, 20),
    (zmq.RECONNECT_IVL_MAX, 200),
)

log = logging.getLogger(__name__)


class EngineConnection:
    """One DEALER socket that reconnects whenever an engine listens at its address.

    `heartbeat` makes the messages that are sent after every handshake and every `HEARTBEAT_SECONDS`.
    """

    def __init__(
        self,
        address: str,
        *,
        heartbeat: Callable[[], Iterable[Message]],
        on_message: Callable[[Message, Buffer | None], None],
        on_disconnect: Callable[[], None],
    ) -> None:
        self._address = address
        self._heartbeat = heartbeat
        self._on_message = on_message
        self._on_disconnect = on_disconnect
        self._tasks: list[asyncio.Task[None]] = []

    def open(self) -> None:
        """Start to connect, to receive and to send heartbeats; does not wait for the engine."""
        self._loop = asyncio.get_running_loop()
        self._context = zmq.asyncio.Context()
        self._socket: zmq.Socket[bytes] = zmq.Context.shadow(self._context.underlying).socket(zmq.DEALER)
        for option, value in _OPTIONS:
            self._socket.setsockopt(option, value)
        self._readable = self._option(zmq.FD)
        self._loop.add_reader(self._readable, self._receive)
        monitor = self._monitor()
        self._socket.connect(self._address)
        self._tasks = [asyncio.create_task(loop) for loop in (self._watch(monitor), self._beat_for_ever())]

    async def close(self) -> None:
        """Stop and close the socket, if it was opened; messages not yet sent are dropped."""
        if not self._tasks:
            return
        self._loop.remove_reader(self._readable)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._socket.disable_monitor()
        self._socket.close(linger=0)
        self._context.destroy(linger=0)

    def send(self, message: Message, buffer: Buffer | None = None) -> bool:
        """Send now; False when no engine is connected."""
        return self.deliver(pack(message, buffer))

    def deliver(self, parts: Parts) -> bool:
        """Send the parts of messages, end to end, now; False when no engine is connected."""
        if not self._tasks:
            return False
        try:
            self._socket.send(delivery(parts), zmq.NOBLOCK)
        except zmq.ZMQError:  # No engine is there, or the worker ends.
            return False
        finally:
            self._look_again()
        return True

    def _receive(self) -> None:
        """Receive what has come. The descriptor tells only of what comes after everything has been received."""
        if self._socket.closed:
            return
        for _ in range(MOST_AT_ONCE):
            try:
                frames = self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            for message, buffer in messages_in(frames):
                self._handle(message, buffer)
        self._loop.call_soon(self._receive)

    def _handle(self, message: Message | WireError, buffer: Buffer | None) -> None:
        try:
            if isinstance(message, WireError):
                raise message
            self._on_message(message, buffer)
        except Exception:
            fields = {"event": LogEvent.ENGINE_MESSAGE_FAILED}
            log.exception("a message of the engine could not be handled", extra=fields)

    def _look_again(self) -> None:
        """Sending may have taken note of messages that came, and then the descriptor does not tell of them."""
        if not self._socket.closed and self._option(zmq.EVENTS) & zmq.POLLIN:
            self._loop.call_soon(self._receive)

    def _option(self, name: int) -> int:
        value = self._socket.getsockopt(name)
        assert isinstance(value, int), f"{name} is no option of numbers"
        return value

    def _monitor(self) -> zmq.asyncio.Socket:
        address = f"inproc://engine-connection-{id(self)}"
        self._socket.monitor(address, zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED)
        monitor: zmq.asyncio.Socket = self._context.socket(zmq.PAIR)
        monitor.connect(address)
        return monitor

    async def _watch(self, monitor: zmq.asyncio.Socket) -> None:
        while True:
            event = parse_monitor_message(await monitor.recv_multipart())
            if event["event"] == zmq.EVENT_HANDSHAKE_SUCCEEDED:
                self.beat()
            else:
                self._on_disconnect()

    async def _beat_for_ever(self) -> None:
        while True:
            self.beat()
            await asyncio.sleep(HEARTBEAT_SECONDS)

    def beat(self) -> None:
        """Send a heartbeat now, beside those that are due."""
        for message in self._heartbeat():
            self.send(message)
