"""Awake clock: the seconds in which a process was running, so that a pause of its own is no silence of others.

A stopped process (SIGSTOP, a frozen container, a debugger) goes on with a gap in its time, and finds that nobody has
been heard for as long as it slept. So silences are counted on this clock: a gap between two ticks counts for no more
than a process that runs ever leaves. Pure: time is passed in.
"""

from __future__ import annotations

MOST_GAP_SECONDS = 1.5
"""Those that use this clock tick at least once a second."""


class AwakeClock:
    """The awake time of one process.

    Attributes:
        seconds: awake since the first tick.
        resumed_seconds: time of the tick that ended the last pause; what was timed across it was timed wrong.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.resumed_seconds = float("-inf")
        self._ticked_seconds: float | None = None

    def tick(self, now: float) -> float:
        """Take note of the time; returns `seconds`."""
        if self._ticked_seconds is not None:
            gap = max(now - self._ticked_seconds, 0.0)
            self.seconds += min(gap, MOST_GAP_SECONDS)
            if gap > MOST_GAP_SECONDS:
                self.resumed_seconds = now
        self._ticked_seconds = now
        return self.seconds
