"""The connections of one worker together: their number, the bytes that they hold, admission, the event loop's lag.

Each second, or more often where a limit is shorter, connections that are too slow are closed and metrics written.
"""

from __future__ import annotations

import asyncio
import enum
import itertools
import logging
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from starlette.responses import Response

from service.api.connection.admission import Admitted, OverloadControl
from service.api.connection.arrival import ArrivalClock
from service.api.connection.byte_budget import ByteBudget
from service.api.connection.limits import ConnectionLimits
from service.api.connection.prepared import PreparedProblems
from service.api.connection.start_queue import StartQueue
from service.core.errors import BY_CODE, GleanerError, Overloaded
from service.logs import LogEvent
from service.metrics.worker import WorkerMetrics
from service.signals.routes import OTHER

TICK_SECONDS = 0.05
"""How often the event loop's lag is measured."""
SWEEP_SECONDS = 1.0
IDLE_EVICTION_SECONDS = 1.0
"""At the limit of connections, one that was idle for so long makes room for a new one."""
EVICTION_TRIES = 8
LONGEST_RETRY_SECONDS = 60.0

log = logging.getLogger(__name__)


class Translation(NamedTuple):
    """How a route of another protocol, which has this name, says that something is wrong."""

    route: str
    response: Response


Translate = Callable[[str, str, Sequence[tuple[bytes, bytes]], GleanerError], Translation | None]
"""Called with a request's method, path and headers, and the error; None for a route of ours."""


class WaitingRequest(Protocol):
    """A request that was taken on, before its work begins."""

    def begin(self) -> None:
        """Begin its work, or refuse it where its time has passed."""


class Acceptance(enum.Enum):
    """What a new connection may do: all, say what it wants, or nothing."""

    OPEN = "open"
    BRIEF = "brief"
    NONE = "none"


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


@dataclass(frozen=True, eq=False, slots=True)
class Transfer:
    """One body that arrives or one answer that is read, the holder of its bytes."""

    connection: Connection


class Connections:
    """What the connections of one worker share.

    `backlog_seconds`: the engine's, as it last said. `on_overload` is called with the code and the number of requests
    that were refused for overload.
    """

    def __init__(
        self,
        limits: ConnectionLimits,
        metrics: WorkerMetrics,
        *,
        backlog_seconds: Callable[[], float] = lambda: 0.0,
        on_overload: Callable[[str, int], None] = lambda code, count: None,
        translate: Translate = lambda method, path, headers, error: None,
    ) -> None:
        self.limits = limits
        self.clock = ArrivalClock()
        self.problems = PreparedProblems(limits)
        self.overload = OverloadControl()
        self._budget: ByteBudget[Transfer] = ByteBudget(limits.held_bytes)
        self._metrics = metrics
        self._backlog_seconds = backlog_seconds
        self._on_overload = on_overload
        self.translate = translate
        self._starts: StartQueue[WaitingRequest] = StartQueue()
        self._turns = False
        self._retry_after_seconds = 1
        self._open: set[Connection] = set()
        self._idle: dict[Connection, float] = {}
        self._slow: list[Connection] = []
        self._refused: Counter[tuple[str, str, int]] = Counter()
        self._dropped: Counter[str] = Counter()
        self._longest_lag_seconds = 0.0

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

    @property
    def open_count(self) -> int:
        """Connections that are open."""
        return len(self._open)

    @property
    def held_bytes(self) -> int:
        """Bytes of all unfinished bodies and unread answers."""
        return self._budget.held_bytes

    def opened(self, connection: Connection, now: float) -> Acceptance:
        """Count a new connection; at the limit one makes room that is idle, or whose body hardly goes on."""
        over = len(self._open) + 1 - self.limits.connections
        self._open.add(connection)
        if over > self.limits.brief_connections:
            return Acceptance.NONE
        if over > 0 and not self._evict_idle(now) and not self._evict_slow():
            return Acceptance.BRIEF
        self._idle[connection] = now
        return Acceptance.OPEN

    def closed(self, connection: Connection) -> None:
        """Forget a connection."""
        self._open.discard(connection)
        self._idle.pop(connection, None)

    def idle(self, connection: Connection, now: float) -> None:
        """A connection waits for its next request."""
        self._idle[connection] = now

    def busy(self, connection: Connection) -> None:
        """The head of a request is complete."""
        self._idle.pop(connection, None)

    def may_begin(self) -> bool:
        """True if a request's work may begin now; where many come at once, it is to wait."""
        return self._starts.may_begin(time.monotonic())

    def wait(self, request: WaitingRequest, admitted: Admitted) -> None:
        """Begin the work of a request in a later turn of the event loop."""
        self._starts.wait(request, admitted)
        if not self._turns:
            self._turns = True
            asyncio.get_running_loop().call_soon(self._next_turn)

    def hold(self, transfer: Transfer, count: int) -> None:
        """Add bytes to a transfer that goes on; the largest one is given up when all together are too many."""
        victim = self._budget.hold(transfer, count)
        if victim is not None:
            self._budget.release(victim)
            victim.connection.give_up(victim)

    def finish(self, transfer: Transfer) -> None:
        """A transfer is complete; its bytes are held until it is released."""
        self._budget.finish(transfer)

    def release(self, transfer: Transfer) -> None:
        """Free a transfer's bytes."""
        self._budget.release(transfer)

    def finished(self, admitted: Admitted, status: int | None) -> None:
        """A request that was taken on ended with this status; None if its client left."""
        self.overload.finished(admitted, status, self._backlog_seconds(), time.monotonic())

    def refused(self, code: str, route: str, status: int) -> None:
        """Count a refusal that no application saw."""
        self._refused[code, route, status] += 1

    def dropped(self, reason: str) -> None:
        """Count a connection that was closed without an answer."""
        self._dropped[reason] += 1

    def sweep(self, now: float) -> None:
        """Enforce all time limits and write the metrics."""
        for connection in list(self._open):
            connection.enforce_time_limits(now)
        self._slow = [connection for connection in self._open if connection.is_slow(now)] if self._is_full else []
        self.overload.forget(now)
        self._set_retry_after(math.ceil(min(max(self._backlog_seconds(), 1.0), LONGEST_RETRY_SECONDS)))
        self._write_metrics()

    def _set_retry_after(self, seconds: int) -> None:
        if seconds != self._retry_after_seconds:
            self._retry_after_seconds = seconds
            self.problems.retry_after(seconds)

    def _next_turn(self) -> None:
        for request in self._starts.next_turn(time.monotonic()):
            request.begin()
        self._turns = bool(self._starts)
        if self._turns:
            asyncio.get_running_loop().call_soon(self._next_turn)

    def _evict_idle(self, now: float) -> bool:
        for connection, since_seconds in list(itertools.islice(self._idle.items(), EVICTION_TRIES)):
            if now - since_seconds < IDLE_EVICTION_SECONDS:
                return False
            del self._idle[connection]
            if connection.evict():
                self.dropped("evicted")
                return True
            self._idle[connection] = now
        return False

    @property
    def _is_full(self) -> bool:
        return len(self._open) >= self.limits.connections

    def _evict_slow(self) -> bool:
        while self._slow:
            if self._slow.pop().evict():
                self.dropped("evicted")
                return True
        return False

    async def _measure_lag(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + TICK_SECONDS
            await asyncio.sleep(TICK_SECONDS)
            lag_seconds = max(loop.time() - due, 0.0)
            self._longest_lag_seconds = max(self._longest_lag_seconds, lag_seconds)
            self.overload.lagged(lag_seconds, time.monotonic())

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
        metrics = self._metrics.connections
        metrics.open.set(len(self._open))
        metrics.in_flight.set(self.overload.in_flight)
        metrics.held_bytes.set(self._budget.held_bytes)
        metrics.loop_lag_seconds.set(self._longest_lag_seconds)
        self._longest_lag_seconds = 0.0
        for reason, count in self._dropped.items():
            metrics.dropped.labels(reason).inc(count)
        self._dropped.clear()
        if not self._refused:
            return
        codes: Counter[str] = Counter()
        for (code, route, status), count in self._refused.items():
            codes[code] += count
            self._metrics.requests.labels(route, str(status)).inc(count)
            if route != OTHER and issubclass(BY_CODE[code], Overloaded):
                self._on_overload(code, count)
        self._refused.clear()
        for code, count in codes.items():
            metrics.refused.labels(code).inc(count)
        facts = {"event": LogEvent.REQUESTS_REFUSED_UNREAD, "codes": dict(codes)}
        log.warning("requests were refused before they were read", extra=facts)
