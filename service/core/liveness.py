"""Liveness of other processes and of the device: missing heartbeats, missing progress, hung batches, repeated deaths.

All but the restart limit count on a clock that leaves out the time in which the observing process itself was suspended
(SIGSTOP, a frozen container, a debugger): else it would find, when it goes on, that nobody has been heard meanwhile.
Pure: time is passed in.
"""

from __future__ import annotations

from collections import deque

MOST_GAP_SECONDS = 1.5
"""Most seconds that count between two ticks of a `SuspendAwareClock`, which ticks at least once a second."""

MULTIPLE = 20
"""Multiple of the longest measured batch after which the device counts as hung: a batch that yields to
interactive work has a ninth of the processor meanwhile."""
FLOOR_SECONDS = 60.0
"""Seconds that a batch may always take: a machine that swaps or shares its cores may be that much slower."""
MOST_SECONDS = 600.0
"""Most seconds of any batch, begun or not."""

MOST_DEATHS = 3
WITHIN_SECONDS = 60.0
"""Seconds within which `MOST_DEATHS` deaths end all restarts."""


class SuspendAwareClock:
    """The awake time of one process.

    Attributes:
        seconds: awake time since the first tick.
        resumed_seconds: tick that ended the last pause; measurements across it are wrong.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.resumed_seconds = float("-inf")
        self._ticked_seconds: float | None = None

    def tick(self, now: float) -> float:
        """Advance the clock to `now`; returns `seconds`."""
        if self._ticked_seconds is not None:
            gap = max(now - self._ticked_seconds, 0.0)
            self.seconds += min(gap, MOST_GAP_SECONDS)
            if gap > MOST_GAP_SECONDS:
                self.resumed_seconds = now
        self._ticked_seconds = now
        return self.seconds


class HeartbeatTimeout:
    """Seconds since the last heartbeat of another process, in which the listening process was not suspended."""

    def __init__(self) -> None:
        self._clock = SuspendAwareClock()
        self._heard_seconds = 0.0

    @property
    def seconds(self) -> float:
        """Length of the silence at the last tick."""
        return self._clock.seconds - self._heard_seconds

    def heard(self) -> None:
        self._heard_seconds = self._clock.seconds

    def tick(self, now: float) -> float:
        """Advance the clock to `now`; returns `seconds`."""
        self._clock.tick(now)
        return self.seconds


_NOTHING = object()


class StallDetector:
    """Measures for how long a mark of progress has not changed."""

    def __init__(self) -> None:
        self._mark: object = _NOTHING
        self._since_seconds = 0.0

    def seconds(self, mark: object | None, awake_seconds: float) -> float:
        """Seconds for which the mark has been the same; 0 while it is None, before the first one."""
        if mark is None or mark != self._mark:
            self._mark, self._since_seconds = mark, awake_seconds
        return awake_seconds - self._since_seconds


class BatchWatchdog:
    """Tells when a device that computes a batch counts as hung, while the engine's loop lives on.

    - A batch may take `MULTIPLE` times the longest that was measured, and never less than `FLOOR_SECONDS`.
    - Each try of a part of it (a batch is split after a failure) begins its time anew.
    - A batch that has not begun waits for other work of the device, such as loading weights: at most `MOST_SECONDS`.
    """

    def __init__(self) -> None:
        self._longest_seconds = 0.0
        self._progress: tuple[int, int] | None = None
        self._since_seconds = 0.0

    def measured(self, seconds: float) -> None:
        self._longest_seconds = max(seconds, self._longest_seconds)

    @property
    def limit_seconds(self) -> float:
        """Most seconds without progress of a batch that has begun."""
        return min(max(MULTIPLE * self._longest_seconds, FLOOR_SECONDS), MOST_SECONDS)

    def hung_seconds(self, progress: tuple[int, int] | None, awake_seconds: float) -> float | None:
        """Seconds without progress of the batch at the head, if they are too many; else None.

        Args:
            progress: number of that batch, and how often it or a part of it was begun; None while there is none.
        """
        if progress != self._progress:
            self._progress, self._since_seconds = progress, awake_seconds
        if progress is None:
            return None
        limit = self.limit_seconds if progress[1] else MOST_SECONDS
        seconds = awake_seconds - self._since_seconds
        return seconds if seconds > limit else None


class RestartLimit:
    """Permits to start a process, or one of several of a kind, again after its recent deaths.

    Args:
        most_deaths: deaths within `WITHIN_SECONDS` that are too many.
    """

    def __init__(self, most_deaths: int = MOST_DEATHS) -> None:
        self._deaths: deque[float] = deque(maxlen=most_deaths)

    def allows(self, now: float) -> bool:
        """Record a death; false when it is one too many."""
        self._deaths.append(now)
        full = len(self._deaths) == self._deaths.maxlen
        return not full or now - self._deaths[0] > WITHIN_SECONDS
