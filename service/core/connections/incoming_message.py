"""Incoming message of a connection: its head as values, its size so far, and whether it arrives too slowly. Pure.

    awaited    no byte has come: `head_seconds` for a connection's first message, `idle_seconds` for the next ones
    head       `head_seconds` from its first byte, `head_bytes`
    body       at a pace, but for the time that it waits for us; chunk sizes and trailers, `head_bytes`

The parser has no limits, and keeps a header line until its end; so bytes are counted before it sees them too. The head
is checked more strictly than by the parser where a proxy in front might understand it differently: one Host, no
transfer coding but `chunked`, none at all in HTTP/1.0 (RFC 9112, sections 3.2 and 6.1).

The pace of a body (or of an answer that is read): in each window at least `LEAST_BYTES_PER_SECOND` on average. So
neither a pause nor a trickle holds a connection for longer than two windows, however much came before.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from typing import NamedTuple

from service.core.connections.connection_table import ConnectionLimits
from service.core.errors import MalformedRequest

Headers = Sequence[tuple[bytes, bytes]]

_QUERY_DEADLINE = re.compile(rb"[?&]deadline_ms=(\d{1,7})(?:&|$)")
_BODY_DEADLINE = re.compile(rb'deadline_ms"[\s:]*(\d{1,7})')
LENGTH_DIGITS = 20
"""Most digits of a Content-Length, leading zeros included: those of 2^64."""
_KEY_HEADERS = (b"authorization", b"x-api-key")


class RequestHead(NamedTuple):
    """The headers of a request, parsed. `length`: declared bytes of the body, None if it is chunked.

    `client`: a number that stands for the API key, which is not kept.
    """

    length: int | None
    expects_continue: bool
    client: int


def read_head(version: str, headers: Headers) -> RequestHead:
    """Read the headers.

    Raises:
        MalformedRequest: an HTTP/1.1 request has no Host or several, the transfer coding is not `chunked` alone, or the
            length has too many digits.
    """
    length: int | None = 0
    hosts, codings, expects_continue, client = 0, 0, False, 0
    for name, value in headers:
        if name == b"host":
            hosts += 1
        elif name == b"content-length":
            if len(value) > LENGTH_DIGITS:
                raise MalformedRequest("A Content-Length has too many digits.")
            length = int(value)
        elif name == b"transfer-encoding":
            codings += 1
            length = None
            if codings > 1 or version == "1.0" or value.strip().lower() != b"chunked":
                raise MalformedRequest("The only transfer coding here is `chunked`, in HTTP/1.1.")
        elif name == b"expect":
            expects_continue = value.lower() == b"100-continue"
        elif name in _KEY_HEADERS:
            client = hash(value)
    if hosts > 1 or (not hosts and version != "1.0"):
        raise MalformedRequest("A request has exactly one Host header.")
    return RequestHead(length, expects_continue, client)


def named_deadline_ms(target: bytes, received: bytes) -> int | None:
    """Find the deadline that a request names in its query, or in the received part of its JSON or form.

    Only read, not parsed: within a JSON string the quotes would be escaped, so a text cannot look like the option.
    """
    found = _QUERY_DEADLINE.search(target)
    if found is None:
        at = received.find(b'deadline_ms"')
        found = _BODY_DEADLINE.match(received, at) if at >= 0 else None
    return int(found[1]) or None if found else None


LEAST_BYTES_PER_SECOND = 512
JUDGED_SECONDS = 2.0
"""Seconds after which an unfinished window may be judged."""


class Pace:
    """The progress of one transfer in windows of a fixed length."""

    __slots__ = ("_begun_seconds", "_bytes", "_window_seconds")

    def __init__(self, window_seconds: float, now: float) -> None:
        self._window_seconds = window_seconds
        self.restart(now)

    def restart(self, now: float) -> None:
        """Begin a new window, for example after the transfer waited for us."""
        self._begun_seconds = now
        self._bytes = 0

    def moved(self, count: int) -> None:
        self._bytes += count

    def is_too_slow(self, now: float) -> bool:
        """True when a window has ended with too few bytes; one that ended with enough is followed by the next."""
        if now - self._begun_seconds < self._window_seconds:
            return False
        too_slow = self._bytes < LEAST_BYTES_PER_SECOND * self._window_seconds
        self.restart(now)
        return too_slow

    def is_slow_so_far(self, now: float) -> bool:
        """True when at least `JUDGED_SECONDS` of the window have passed with too few bytes."""
        elapsed = now - self._begun_seconds
        return elapsed >= JUDGED_SECONDS and self._bytes < LEAST_BYTES_PER_SECOND * elapsed


FRAMING_BYTES = 16
"""Most bytes of chunk sizes and line ends for each byte of a body."""
HEALTH_ONLY_SECONDS = 2.0
"""Seconds for a connection beyond the limit to send its request."""


class MessageTimeout(enum.Enum):
    """The time limit that has passed: `SLOW` in a begun message, `SILENT` beyond the limit, `IDLE` between messages."""

    SLOW = "slow"
    SILENT = "silent"
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
        """Note that the head is complete."""
        self.in_head = False
        self._head_bytes = self.body_bytes = self.trailers = self._around_body = 0
        self._pace = None

    def go_on(self, now: float) -> None:
        """Note that more is to come: from here on a body's pace is watched."""
        if self._pace is None and not self.in_head:
            self._pace = Pace(self._limits.body_seconds, now)

    def add_body(self, count: int) -> None:
        """Count bytes of the body."""
        self.body_bytes += count
        if self._pace is not None:
            self._pace.moved(count)

    def end_body(self, now: float) -> None:
        """Note that the message is complete."""
        self.in_head = True
        self._head_bytes = 0
        self._first = False
        self.wait(now)

    def overdue(
        self, now: float, *, is_health_only: bool, is_answering: bool, awaits_us: bool
    ) -> MessageTimeout | None:
        """Name the time limit that has passed, if any.

        Args:
            is_health_only: the connection is beyond the limit.
            is_answering: a message before this one has no answer yet, for which its head may wait.
            awaits_us: the body stands still because we do not read it.
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
        """True while a body hardly makes progress."""
        return self._pace is not None and not self.in_head and self._pace.is_slow_so_far(now)

    def _overdue_head(self, now: float, is_health_only: bool) -> MessageTimeout | None:
        limits = self._limits
        most = limits.idle_seconds if self.is_awaited and not self._first else limits.head_seconds
        if now - self._since_seconds <= (HEALTH_ONLY_SECONDS if is_health_only else most):
            return None
        if not self.is_awaited:
            return MessageTimeout.SLOW
        return MessageTimeout.SILENT if is_health_only else MessageTimeout.IDLE
