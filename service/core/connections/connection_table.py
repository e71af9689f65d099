"""The connections of one worker: who may come in, and who makes room for him. Pure: time is passed in.

The rule: at the limit it is not the newcomer who goes, but one that has been idle for a while, or else one whose body
hardly goes on. Where there is none, the newcomer may say what he wants, so that a health check is still answered; far
beyond the limit what he has said already is refused unread, unless that is what it asks.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from itertools import islice
from typing import Generic, TypeVar

from service.core.connections.limits import ConnectionLimits

IDLE_EVICTION_SECONDS = 1.0
"""One that was idle for so long makes room for a new one."""
EVICTION_TRIES = 8

T = TypeVar("T")


class Acceptance(enum.Enum):
    """What a new connection may do.

    Attributes:
        OPEN: all.
        HEALTH_ONLY: say what it wants; only health is answered.
        OVER_LIMIT: the same, and what it has said already is not read for it.
    """

    OPEN = "open"
    HEALTH_ONLY = "health_only"
    OVER_LIMIT = "over_limit"


class ConnectionTable(Generic[T]):
    """Those that are open, those of them that wait for a request, and those whose bodies were slow when it was full.

    `evict` closes a connection, unless it is found to have work after all; then it is False.
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
