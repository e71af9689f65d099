"""Transfers of one worker: the pace of a body or an answer, the bytes that all of them hold, what is dropped at an end.

- Pace: within every window at least `LEAST_BYTES_PER_SECOND` on average. So neither a pause nor a trickle holds a
  connection for longer than two windows, however much came before.
- Byte budget: when all unfinished bodies and unread answers together exceed it, the transfer that holds most is given
  up, not the one that came last. So those who fill the budget pay for it, and small requests pass.
- Linger: what still comes after the last answer of a connection is read and dropped, for a while. To close with unread
  bytes would reset the connection, and destroy the answer on its way.

Pure: time is passed in.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Generic, TypeVar

LEAST_BYTES_PER_SECOND = 512
JUDGED_SECONDS = 2.0
"""A window is not judged before its end until so much of it has passed."""


class Pace:
    """The progress of one transfer in windows of a fixed length."""

    __slots__ = ("_begun_seconds", "_bytes", "_window_seconds")

    def __init__(self, window_seconds: float, now: float) -> None:
        self._window_seconds = window_seconds
        self.restart(now)

    def restart(self, now: float) -> None:
        """Begin a window anew, as after a time in which the transfer waited for us."""
        self._begun_seconds = now
        self._bytes = 0

    def moved(self, count: int) -> None:
        """Count bytes that were transferred."""
        self._bytes += count

    def is_too_slow(self, now: float) -> bool:
        """True when a window has ended with too few bytes; one that ended with enough is followed by the next."""
        if now - self._begun_seconds < self._window_seconds:
            return False
        too_slow = self._bytes < LEAST_BYTES_PER_SECOND * self._window_seconds
        self.restart(now)
        return too_slow

    def is_slow_so_far(self, now: float) -> bool:
        """True when the window has begun some time ago, with too few bytes until now."""
        elapsed = now - self._begun_seconds
        return elapsed >= JUDGED_SECONDS and self._bytes < LEAST_BYTES_PER_SECOND * elapsed


T = TypeVar("T", bound=Hashable)


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
        """A transfer is complete: its bytes stay held, and it is not given up any more."""
        self._unfinished.discard(holder)

    def release(self, holder: T) -> None:
        """Free all bytes of a holder; nothing happens for one that is not known."""
        self.held_bytes -= self._held.pop(holder, 0)
        self._unfinished.discard(holder)


HEAD_LINGER_BYTES = 1024 * 1024
"""What is read and dropped after a refusal."""
ALL_THAT_COMES = math.inf
"""Of a body that was declared, or of several: as much as comes in time."""


class Linger:
    """The end of one connection: until `until` (seconds), and with so many bytes left to drop."""

    __slots__ = ("_bytes", "_until")

    def __init__(self, most_bytes: float, until: float) -> None:
        self._bytes = most_bytes
        self._until = until

    def drop(self, count: int) -> None:
        """Count bytes that came and were dropped."""
        self._bytes -= count

    def is_over(self, now: float) -> bool:
        """True once its time has passed."""
        return now > self._until

    @property
    def is_exceeded(self) -> bool:
        """True once more has come than is dropped."""
        return self._bytes < 0
