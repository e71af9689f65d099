"""Connections of one worker: which are open, what they hold, what was admitted, refused or dropped.

Each second, or more often where a limit is shorter, connections that are too slow are closed and metrics written.

Admitted requests wait in the start limiter until their work begins, a few in each turn of the event loop.

A worker that is late reads requests late, so its own clock at that moment would hide how long they have waited. Linux's
TCP_INFO has the milliseconds since the last segment with data (`tcpi_last_data_recv`, tcp(7), linux/tcp.h).
"""

from __future__ import annotations

import asyncio
import ctypes
import fcntl
import logging
import math
import socket
import sys
import termios
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from service.api.connection.refusals import Refusals, Translate
from service.core.admission.head import AdmittedRequest, ConcurrencyLimiter, StartQueue
from service.core.admission.policy import ADMIT
from service.core.connections.connection_table import ByteBudget, ConnectionLimits, ConnectionTable, connections_within
from service.logs import LogEvent
from service.metrics.worker import WorkerMetrics
from service.settings import Settings

log = logging.getLogger(__name__)

_LIBC = ctypes.CDLL(None)
_STATE_AT = 0
_CLOSE_WAIT = 8
"""State of a connection whose peer has ended its side (`TCP_CLOSE_WAIT`, linux/tcp_states.h)."""
_LAST_DATA_RECEIVED_AT = 52
_MOST_SECONDS = 600.0
"""Longest plausible wait in seconds; a longer one is a value that the kernel never set."""


class TcpInfo:
    """Asks the kernel how long ago data came, and whether more can: a microsecond each. For one thread."""

    def __init__(self) -> None:
        self._getsockopt = _LIBC.getsockopt if sys.platform == "linux" else None
        self._info = ctypes.create_string_buffer(_LAST_DATA_RECEIVED_AT + 4)
        self._info_bytes = ctypes.c_uint32(len(self._info))
        self._milliseconds = ctypes.c_uint32.from_buffer(self._info, _LAST_DATA_RECEIVED_AT)
        self._arguments = (socket.IPPROTO_TCP, getattr(socket, "TCP_INFO", 0), self._info)

    def waited_seconds(self, file: int) -> float:
        """Seconds since the last data arrived at this socket; 0 where the kernel does not say."""
        if not self._ask(file):
            return 0.0
        seconds = self._milliseconds.value / 1000
        return seconds if seconds < _MOST_SECONDS else 0.0

    def peer_has_ended(self, file: int) -> bool:
        """True when the peer of this socket has shut down its write side; False where the kernel does not say."""
        return self._ask(file) and self._info[_STATE_AT] == bytes([_CLOSE_WAIT])

    def _ask(self, file: int) -> bool:
        """Fill the info of this socket; False where the kernel does not say."""
        if self._getsockopt is None:
            return False
        if self._getsockopt(file, *self._arguments, ctypes.byref(self._info_bytes)) != 0:
            return False
        if self._info_bytes.value != len(self._info):
            self._info_bytes.value = len(self._info)
            return False
        return True


def first_unread(file: int, count: int) -> bytes:
    """The first bytes that have come to a socket and were not read, which stay unread."""
    found = ctypes.create_string_buffer(count)
    received = _LIBC.recv(file, found, count, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    return found.raw[: max(received, 0)]


def unread_bytes(file: int) -> int:
    """Bytes that have come to a socket and were not read."""
    return int.from_bytes(fcntl.ioctl(file, termios.FIONREAD, bytes(4)), sys.byteorder)


LOOK_SECONDS = 0.01
"""Seconds between checks whether the first engine has started, while requests wait for it."""


class RequestOwner(Protocol):
    """The connection of a request that waits."""

    def run(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Let an application answer a request."""

    def refuse_late(self, cycle: RequestResponseCycle) -> None:
        """Refuse a request whose deadline passed before its work began."""

    def forget(self, cycle: RequestResponseCycle) -> None:
        """Release what is held for a request that has ended."""


@dataclass(frozen=True, slots=True)
class QueuedStart:
    """A request that waits until its work begins."""

    owner: RequestOwner
    cycle: RequestResponseCycle
    app: Any
    admitted: AdmittedRequest

    def begin(self, now: float) -> None:
        """Begin its work, unless its client is gone, or refuse it where its deadline has passed."""
        if self.cycle.disconnected:
            self.owner.forget(self.cycle)
        elif now - self.admitted.arrived_seconds >= self.admitted.deadline_seconds:
            self.owner.refuse_late(self.cycle)
        else:
            self.owner.run(self.cycle, self.app)


class StartLimiter:
    """The waiting requests of one worker. `starting`: True while the first engine starts, for which all wait a moment.

    Workers do not read the engine's status in the same moment: a client that heard from one that the service is ready
    must not be refused by another.
    """

    def __init__(self, starting: Callable[[], bool] = lambda: False) -> None:
        self._queue: StartQueue[QueuedStart] = StartQueue()
        self._starting = starting
        self._coming = False

    def start(self, request: QueuedStart) -> None:
        """Begin the work of a request now, or in a later turn."""
        if self._queue.decide(time.monotonic(), starting=self._starting()) is ADMIT:
            request.owner.run(request.cycle, request.app)
            return
        self._queue.wait(request, request.admitted)
        if not self._coming:
            self._call_next(at_once=not self._starting())

    def _call_next(self, *, at_once: bool) -> None:
        """Have the next turn come after this one, or, where no request may begin before, in a while."""
        self._coming = True
        loop = asyncio.get_running_loop()
        if at_once:
            loop.call_soon(self._next)
        else:
            loop.call_later(LOOK_SECONDS, self._next)

    def _next(self) -> None:
        begun = self._queue.next_turn(time.monotonic(), starting=self._starting())
        for request in begun:
            request.begin(time.monotonic())
        self._coming = False
        if self._queue:
            self._call_next(at_once=bool(begun) or not self._starting())


def connection_limits(settings: Settings, open_files: int) -> ConnectionLimits:
    """The limits that the settings set on a worker which may open so many files."""
    return ConnectionLimits(
        connections=connections_within(settings.max_connections, open_files),
        body_bytes=settings.max_request_bytes,
        held_bytes=settings.max_held_bytes,
        idle_seconds=float(settings.keep_alive_seconds),
        deadline_seconds=settings.deadline_ms / 1000,
    )


LAG_PERIOD_SECONDS = 0.05
"""Seconds between two measurements of the event loop's lag."""
SWEEP_SECONDS = 1.0
LONGEST_RETRY_SECONDS = 60.0


class Connection(Protocol):
    """One connection, as its worker handles it."""

    def enforce_time_limits(self, now: float) -> None:
        """Close the connection, with an answer if it has begun a request, where one of its time limits has passed."""

    def give_up(self, transfer: object) -> None:
        """End this connection because of the bytes that one of its transfers holds."""

    def evict(self) -> bool:
        """Close this connection, unless a request has come that was not read yet, or its body goes on."""

    def is_slow(self, now: float) -> bool:
        """True while the body of its request hardly goes on."""

    def end_after_answer(self) -> None:
        """Have the answer that is under way, if there is one, be the connection's last."""


@dataclass(frozen=True, eq=False, slots=True)
class Transfer:
    """One body that arrives or one answer that is read, the holder of its bytes."""

    connection: Connection


class Connections:
    """State that the connections of one worker share.

    `backlog_seconds`: the engine's, as it last said. `on_overload` is called with the code and the number of requests
    that were refused for overload.

    Attributes:
        draining: True from SIGTERM on; each answer then ends its connection, so that clients open the next to another.
        table: which connections are open, and which are evicted.
        budget: bytes of all unfinished bodies and unread answers.
        overload: how many requests are admitted.
        starts: when their work begins.
        refusals: what no application sees.
    """

    def __init__(
        self,
        limits: ConnectionLimits,
        metrics: WorkerMetrics,
        *,
        backlog_seconds: Callable[[], float] = lambda: 0.0,
        on_overload: Callable[[str, int], None] = lambda code, count: None,
        translate: Translate = lambda method, path, headers, error: None,
        starting: Callable[[], bool] = lambda: False,
        draining: Callable[[], bool] = lambda: False,
    ) -> None:
        self.limits = limits
        self.draining = draining
        self.clock = TcpInfo()
        self.table: ConnectionTable[Connection] = ConnectionTable(limits, self._evict)
        self.budget: ByteBudget[Transfer] = ByteBudget(limits.held_bytes)
        self.overload = ConcurrencyLimiter()
        self.starts = StartLimiter(starting)
        self.refusals = Refusals(limits, on_overload, translate)
        self._metrics = metrics
        self._backlog_seconds = backlog_seconds
        self._longest_lag_seconds = 0.0
        self._retry_after_seconds = 1
        self._dropped: Counter[str] = Counter()

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[Connections]:
        """Measure the event loop's lag and enforce time limits while the context is open."""
        tasks = [asyncio.create_task(self._measure_lag()), asyncio.create_task(self._sweep_regularly())]
        try:
            yield self
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def hold(self, transfer: Transfer, count: int) -> None:
        """Add bytes to a transfer that goes on; the largest one is given up when all together are too many."""
        victim = self.budget.hold(transfer, count)
        if victim is not None:
            self.budget.release(victim)
            victim.connection.give_up(victim)

    def finished(self, admitted: AdmittedRequest, code: str) -> None:
        """A request that was taken on ended with this code; with none if its client left."""
        self.overload.finished(admitted, code, time.monotonic())

    def count_dropped(self, reason: str) -> None:
        self._dropped[reason] += 1

    def sweep(self, now: float) -> None:
        """Enforce all time limits and write the metrics."""
        draining = self.draining()
        for connection in self.table.all():
            connection.enforce_time_limits(now)
            if draining:
                connection.end_after_answer()
        self.table.note_slow(lambda connection: connection.is_slow(now))
        self.overload.forget(now)
        self._set_retry_after(math.ceil(min(max(self._backlog_seconds(), 1.0), LONGEST_RETRY_SECONDS)))
        self._write_metrics()
        self.refusals.report(self._metrics)

    def _evict(self, connection: Connection) -> bool:
        evicted = connection.evict()
        if evicted:
            self.count_dropped("evicted")
        return evicted

    def _set_retry_after(self, seconds: int) -> None:
        if seconds != self._retry_after_seconds:
            self._retry_after_seconds = seconds
            self.refusals.problems.retry_after(seconds)

    async def _measure_lag(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + LAG_PERIOD_SECONDS
            await asyncio.sleep(LAG_PERIOD_SECONDS)
            seconds = max(loop.time() - due, 0.0)
            self._longest_lag_seconds = max(self._longest_lag_seconds, seconds)
            self.overload.lagged(seconds, time.monotonic())

    async def _sweep_regularly(self) -> None:
        limits = self.limits
        shortest = min(limits.head_seconds, limits.body_seconds, limits.write_seconds, limits.linger_seconds)
        while True:
            await asyncio.sleep(min(SWEEP_SECONDS, shortest / 2))
            try:
                self.sweep(time.monotonic())
            except Exception:  # The next sweep must come all the same.
                log.exception("connections could not be swept", extra={"event": LogEvent.CONNECTIONS_NOT_SWEPT})

    def _write_metrics(self) -> None:
        self._metrics.process.update()
        metrics = self._metrics.connections
        metrics.open.set(len(self.table))
        metrics.in_flight.set(self.overload.in_flight)
        metrics.held_bytes.set(self.budget.held_bytes)
        metrics.loop_lag_seconds.set(self._longest_lag_seconds)
        self._longest_lag_seconds = 0.0
        for reason, count in self._dropped.items():
            metrics.dropped.labels(reason).inc(count)
        self._dropped.clear()
