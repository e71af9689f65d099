"""Pace: whether a transfer goes on fast enough, a body that arrives or an answer that is read. Pure: time is passed in.

The rule: within every window at least `LEAST_BYTES_PER_SECOND` on average. So neither a pause nor a trickle holds a
connection for longer than two windows, however much came before.
"""

from __future__ import annotations

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
