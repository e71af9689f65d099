"""Connections of one worker: their limits, which are open, the bytes that they hold, and how they end. Pure.

- Limit: a new connection replaces one that has been idle for a second, or one whose body makes no progress. If none can
  be evicted, the new one is accepted for one request, which is answered only if it is a health check. Above the limit
  by more than `health_only_connections` it is rejected by its first bytes, without parsing, unless they ask for health.
- Byte budget: when all unfinished bodies and unread answers together exceed it, the transfer that holds most is given
  up, not the one that came last. So the transfers that fill the budget pay for it, and small requests pass.
- Linger: what still comes after the last answer of a connection is read and dropped, for a while. To close with unread
  bytes would reset the connection, and destroy the answer on its way.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

KEPT_FILES = 128
"""Open files that a worker keeps for other things than connections: listening sockets, pipes, metrics."""
HEALTH_ONLY_SHARE = 0.25
"""Connections beyond the limit whose request is read and refused in its protocol, as a share of the limit."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits of one worker's connections.

    Attributes:
        connections: most that are open at once; those beyond are answered 503 and closed.
        target_bytes: most bytes of a request's target (path and query).
        head_bytes: most bytes of request line and headers together, and of trailers.
        headers: most headers.
        body_bytes: most bytes of one body.
        small_body_bytes: a body up to this size is read and dropped after a refusal, so that its connection stays open.
        held_bytes: most bytes of all unfinished bodies and unread answers together.
        handshake_seconds: time from the accept of a connection to the end of its TLS handshake.
        head_seconds: time from the first byte of a head to its last, and for a connection's first request to begin.
        body_seconds: window of a body's pace (`Pace`).
        write_seconds: window of the pace at which an answer is read.
        idle_seconds: time that a connection stays open between two requests.
        linger_seconds: time for which bytes are read and dropped after a connection's last answer (`Linger`).
        deadline_seconds: deadline of a request that names none.
    """

    connections: int = 4_096
    target_bytes: int = 16 * 1024
    head_bytes: int = 64 * 1024
    headers: int = 100
    body_bytes: int = 256 * 1024 * 1024
    small_body_bytes: int = 64 * 1024
    held_bytes: int = 384 * 1024 * 1024
    handshake_seconds: float = 10.0
    head_seconds: float = 20.0
    body_seconds: float = 60.0
    write_seconds: float = 60.0
    idle_seconds: float = 75.0
    linger_seconds: float = 3.0
    deadline_seconds: float = 300.0

    @property
    def health_only_connections(self) -> int:
        """Connections beyond the limit whose requests are read and refused in their protocol."""
        return max(16, int(self.connections * HEALTH_ONLY_SHARE))


def connections_within(wanted: int, open_files: int) -> int:
    """Lower `wanted` connections to the number that the limit of open files allows, at least 16."""
    spare = int((open_files - KEPT_FILES) / (1 + HEALTH_ONLY_SHARE))
    return max(16, min(wanted, spare))


IDLE_EVICTION_SECONDS = 1.0
"""Seconds without a request after which a connection may be evicted."""
EVICTION_TRIES = 8
"""Most idle connections that are tried for a new one."""

T = TypeVar("T")


class Acceptance(enum.Enum):
    """The permission of a new connection.

    Attributes:
        OPEN: send any request.
        HEALTH_ONLY: send one request, which is answered only if it is a health check.
        OVER_LIMIT: the same; it is rejected unparsed if its first bytes ask for anything else.
    """

    OPEN = "open"
    HEALTH_ONLY = "health_only"
    OVER_LIMIT = "over_limit"


class ConnectionTable(Generic[T]):
    """Open connections, the idle ones among them, and the slow ones while the table is full.

    `evict` closes a connection and is True; False for one that is found to have work after all.
    """

    def __init__(self, limits: ConnectionLimits, evict: Callable[[T], bool]) -> None:
        self._limits = limits
        self._evict = evict
        self._open: set[T] = set()
        self._idle: dict[T, float] = {}
        self._slow: list[T] = []

    def __len__(self) -> int:
        return len(self._open)

    def all(self) -> list[T]:
        """List the open connections, in no order."""
        return list(self._open)

    def opened(self, connection: T, now: float) -> Acceptance:
        """Count a new connection; at the limit another one is evicted for it, if there is one."""
        over = len(self._open) + 1 - self._limits.connections
        self._open.add(connection)
        if over > self._limits.health_only_connections:
            return Acceptance.OVER_LIMIT
        if over > 0 and not self._evict_idle(now) and not self._evict_slow():
            return Acceptance.HEALTH_ONLY
        self._idle[connection] = now
        return Acceptance.OPEN

    def closed(self, connection: T) -> None:
        """Forget a connection."""
        self._open.discard(connection)
        self._idle.pop(connection, None)

    def idle(self, connection: T, now: float) -> None:
        """Note that a connection waits for its next request."""
        self._idle[connection] = now

    def busy(self, connection: T) -> None:
        """Note that the head of a request is complete."""
        self._idle.pop(connection, None)

    def note_slow(self, is_slow: Callable[[T], bool]) -> None:
        """Note, while the table is full, the connections whose bodies hardly make progress."""
        full = len(self._open) >= self._limits.connections
        self._slow = [connection for connection in self._open if is_slow(connection)] if full else []

    def _evict_idle(self, now: float) -> bool:
        """Evict the first possible of the longest idle connections; the others tried count as idle from now on."""
        for connection, since_seconds in list(islice(self._idle.items(), EVICTION_TRIES)):
            if now - since_seconds < IDLE_EVICTION_SECONDS:
                return False
            del self._idle[connection]
            if self._evict(connection):
                return True
            self._idle[connection] = now
        return False

    def _evict_slow(self) -> bool:
        return any(self._evict(self._slow.pop()) for _ in range(len(self._slow)))


class ByteBudget(Generic[T]):
    """Bytes by holder; only transfers that are unfinished can be given up, but all count until they are released."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._held: dict[T, int] = {}
        self._unfinished: set[T] = set()
        self.held_bytes = 0

    def hold(self, holder: T, count: int) -> T | None:
        """Add bytes to a transfer that goes on; returns the one to give up if the budget is exceeded by several."""
        self._held[holder] = self._held.get(holder, 0) + count
        self._unfinished.add(holder)
        self.held_bytes += count
        if self.held_bytes <= self._limit_bytes or len(self._held) == 1:
            return None
        return max(self._unfinished, key=lambda each: self._held[each])

    def finish(self, holder: T) -> None:
        """Note that a transfer is complete: its bytes stay held, but it is not given up any more."""
        self._unfinished.discard(holder)

    def release(self, holder: T) -> None:
        """Free all bytes of a holder; nothing happens for one that is not known."""
        self.held_bytes -= self._held.pop(holder, 0)
        self._unfinished.discard(holder)


HEAD_LINGER_BYTES = 1024 * 1024
"""Most bytes that are read and dropped after a refusal."""
ALL_THAT_COMES = math.inf
"""The limit for declared bodies: everything that comes in time is dropped."""


class Linger:
    """The end of one connection: drops at most `most_bytes` until the time `until`."""

    __slots__ = ("_bytes", "_until")

    def __init__(self, most_bytes: float, until: float) -> None:
        self._bytes = most_bytes
        self._until = until

    def drop(self, count: int) -> None:
        self._bytes -= count

    def is_over(self, now: float) -> bool:
        return now > self._until

    @property
    def is_exceeded(self) -> bool:
        """True once more bytes have come than may be dropped."""
        return self._bytes < 0
