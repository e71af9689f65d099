"""Connection table of one worker: accepts connections up to a limit, and evicts idle and slow ones at it. Pure.

At the limit a new connection replaces one that has been idle for a second, or one whose body makes no progress. If none
can be evicted, the new one is accepted for one request, which is answered only if it is a health check. Above the limit
by more than `health_only_connections` it is rejected by its first bytes, without parsing, unless they ask for health.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from itertools import islice
from typing import Generic, TypeVar

from service.core.connections.limits import ConnectionLimits

IDLE_EVICTION_SECONDS = 1.0
"""A connection without a request for this long may be evicted."""
EVICTION_TRIES = 8
"""Idle connections that are tried for one that is new."""

T = TypeVar("T")


class Acceptance(enum.Enum):
    """What a new connection may do.

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
        """Those that are open, in no order."""
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
        """A connection waits for its next request."""
        self._idle[connection] = now

    def busy(self, connection: T) -> None:
        """The head of a request is complete."""
        self._idle.pop(connection, None)

    def note_slow(self, is_slow: Callable[[T], bool]) -> None:
        """Note, where no other connection may be opened, whose bodies hardly go on."""
        full = len(self._open) >= self._limits.connections
        self._slow = [connection for connection in self._open if is_slow(connection)] if full else []

    def _evict_idle(self, now: float) -> bool:
        """Evict of those that have waited longest the first that can be; the others are taken for new ones."""
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
