"""Incoming message of a connection: its size so far, and whether it arrives too slowly. Pure.

    awaited    no byte has come: `head_seconds` for a connection's first message, `idle_seconds` for the next ones
    head       `head_seconds` from its first byte, `head_bytes`
    body       at a pace, but for the time that it waits for us; what is around it (chunk sizes, trailers), `head_bytes`

The parser has no limits, and keeps a header line until its end; so bytes are counted before it sees them too.
"""

from __future__ import annotations

import enum

from service.core.connections.limits import ConnectionLimits
from service.core.connections.transfers import Pace

FRAMING_BYTES = 16
"""Most bytes of chunk sizes and line ends beside one byte of a body."""
HEALTH_ONLY_SECONDS = 2.0
"""Time for a connection beyond the limit to send its request."""


class MessageTimeout(enum.Enum):
    """Which time limit has passed: of a message that has begun, of the first beyond the limit, or of the next."""

    SLOW = "slow"
    UNSAID = "unsaid"
    IDLE = "idle"


class IncomingMessage:
    """Sizes and times of the message that arrives; all begin anew with the next one. Times are seconds of one clock."""

    __slots__ = (
        "_around_body",
        "_first",
        "_head_bytes",
        "_limits",
        "_pace",
        "_since_seconds",
        "body_bytes",
        "in_head",
        "trailers",
    )

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._around_body = self._head_bytes = 0
        self.body_bytes = self.trailers = 0
        self.in_head = self._first = True
        self._since_seconds = 0.0
        self._pace: Pace | None = None

    @property
    def is_awaited(self) -> bool:
        """True until its first byte comes."""
        return self.in_head and not self._head_bytes

    @property
    def is_first(self) -> bool:
        """True while no message of its connection was complete."""
        return self._first

    @property
    def is_too_large(self) -> bool:
        """True when what came of a head, or around a body (chunk sizes, trailers), is over its limit."""
        if self.in_head:
            return self._head_bytes > self._limits.head_bytes
        return self._around_body > self._limits.head_bytes + FRAMING_BYTES * self.body_bytes

    def wait(self, now: float) -> None:
        """From now on the next message is waited for."""
        self._since_seconds = now

    def receive(self, count: int, now: float) -> None:
        """Count bytes that came, before they are parsed."""
        if not self.in_head:
            self._around_body += count
            return
        if not self._head_bytes:
            self._since_seconds = now
        self._head_bytes += count

    def end_head(self) -> None:
        """The head is complete."""
        self.in_head = False
        self._head_bytes = self.body_bytes = self.trailers = self._around_body = 0
        self._pace = None

    def go_on(self, now: float) -> None:
        """More is to come: of a body the pace is watched from here on."""
        if self._pace is None and not self.in_head:
            self._pace = Pace(self._limits.body_seconds, now)

    def add_body(self, count: int) -> None:
        """Count bytes of the body."""
        self.body_bytes += count
        if self._pace is not None:
            self._pace.moved(count)

    def end_body(self, now: float) -> None:
        """The message is complete."""
        self.in_head = True
        self._head_bytes = 0
        self._first = False
        self.wait(now)

    def overdue(
        self, now: float, *, is_health_only: bool, is_answering: bool, awaits_us: bool
    ) -> MessageTimeout | None:
        """What has taken too long, if anything has.

        Args:
            is_health_only: the connection is beyond the limit.
            is_answering: a message before this one has no answer yet, for which its head may wait.
            awaits_us: it is for us that a body does not go on.
        """
        if self.in_head:
            return None if is_answering else self._overdue_head(now, is_health_only)
        if self._pace is None:
            return None
        if awaits_us:
            self._pace.restart(now)
            return None
        return MessageTimeout.SLOW if self._pace.is_too_slow(now) else None

    def is_slow_so_far(self, now: float) -> bool:
        """True while a body hardly goes on."""
        return self._pace is not None and not self.in_head and self._pace.is_slow_so_far(now)

    def _overdue_head(self, now: float, is_health_only: bool) -> MessageTimeout | None:
        limits = self._limits
        most = limits.idle_seconds if self.is_awaited and not self._first else limits.head_seconds
        if now - self._since_seconds <= (HEALTH_ONLY_SECONDS if is_health_only else most):
            return None
        if not self.is_awaited:
            return MessageTimeout.SLOW
        return MessageTimeout.UNSAID if is_health_only else MessageTimeout.IDLE
