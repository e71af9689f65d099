"""Connections of one worker: which are open, what they hold, what was admitted, refused or dropped.

Each second, or more often where a limit is shorter, connections that are too slow are closed and metrics written.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from service.api.connection.refusals import Refusals, Translate
from service.api.connection.socket_timestamps import TcpInfo
from service.api.connection.start_limiter import StartLimiter
from service.core.admission.head import AdmittedRequest, ConcurrencyLimiter
from service.core.connections.connection_table import ConnectionTable
from service.core.connections.limits import ConnectionLimits, connections_within
from service.core.connections.transfers import ByteBudget
from service.logs import LogEvent
from service.metrics.worker import WorkerMetrics
from service.settings import Settings


def connection_limits(settings: Settings, open_files: int) -> ConnectionLimits:
    """The limits that the settings set on a worker which may open so many files."""
    return ConnectionLimits(
        connections=connections_within(settings.max_connections, open_files),
        body_bytes=settings.max_request_bytes,
        held_bytes=settings.max_held_bytes,
        idle_seconds=float(settings.keep_alive_seconds),
        deadline_seconds=settings.deadline_ms / 1000,
    )


TICK_SECONDS = 0.05
"""How often it is measured."""


class LoopLag:
    """The lag of the running event loop; `on_lag` is called with each measurement, in seconds."""

    def __init__(self, on_lag: Callable[[float], None]) -> None:
        self._on_lag = on_lag
        self._longest_seconds = 0.0

    async def measure(self) -> None:
        """Measure it until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + TICK_SECONDS
            await asyncio.sleep(TICK_SECONDS)
            seconds = max(loop.time() - due, 0.0)
            self._longest_seconds = max(self._longest_seconds, seconds)
            self._on_lag(seconds)

    def take_longest_seconds(self) -> float:
        """The longest since this was asked the last time."""
        longest, self._longest_seconds = self._longest_seconds, 0.0
        return longest


SWEEP_SECONDS = 1.0
LONGEST_RETRY_SECONDS = 60.0

log = logging.getLogger(__name__)


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

    Attributes:
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
    ) -> None:
        self.limits = limits
        self.clock = TcpInfo()
        self.table: ConnectionTable[Connection] = ConnectionTable(limits, self._evict)
        self.budget: ByteBudget[Transfer] = ByteBudget(limits.held_bytes)
        self.overload = ConcurrencyLimiter()
        self.starts = StartLimiter(starting)
        self.refusals = Refusals(limits, on_overload, translate)
        self._metrics = metrics
        self._backlog_seconds = backlog_seconds
        self._lag = LoopLag(lambda seconds: self.overload.lagged(seconds, time.monotonic()))
        self._retry_after_seconds = 1
        self._dropped: Counter[str] = Counter()

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[Connections]:
        """Measure the event loop's lag and enforce time limits while the context is open."""
        tasks = [asyncio.create_task(self._lag.measure()), asyncio.create_task(self._sweep_regularly())]
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

    def finished(self, admitted: AdmittedRequest, status: int | None) -> None:
        """A request that was taken on ended with this status; None if its client left."""
        self.overload.finished(admitted, status, self._backlog_seconds(), time.monotonic())

    def dropped(self, reason: str) -> None:
        """Count a connection that was closed without an answer."""
        self._dropped[reason] += 1

    def sweep(self, now: float) -> None:
        """Enforce all time limits and write the metrics."""
        for connection in self.table.all():
            connection.enforce_time_limits(now)
        self.table.note_slow(lambda connection: connection.is_slow(now))
        self.overload.forget(now)
        self._set_retry_after(math.ceil(min(max(self._backlog_seconds(), 1.0), LONGEST_RETRY_SECONDS)))
        self._write_metrics()
        self.refusals.report(self._metrics)

    def _evict(self, connection: Connection) -> bool:
        evicted = connection.evict()
        if evicted:
            self.dropped("evicted")
        return evicted

    def _set_retry_after(self, seconds: int) -> None:
        if seconds != self._retry_after_seconds:
            self._retry_after_seconds = seconds
            self.refusals.problems.retry_after(seconds)

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
        metrics.open.set(len(self.table))
        metrics.in_flight.set(self.overload.in_flight)
        metrics.held_bytes.set(self.budget.held_bytes)
        metrics.loop_lag_seconds.set(self._lag.take_longest_seconds())
        for reason, count in self._dropped.items():
            metrics.dropped.labels(reason).inc(count)
        self._dropped.clear()
