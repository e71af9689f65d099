"""Restart limit of processes: after too many deaths within a minute there is no further restart.

Pure: time is passed in.
"""

from __future__ import annotations

from collections import deque

MOST_DEATHS = 3
WITHIN_SECONDS = 60.0


class RestartLimit:
    """The recent deaths of one process, or of several of one kind.

    Args:
        most_deaths: how many within `WITHIN_SECONDS` are too many.
    """

    def __init__(self, most_deaths: int = MOST_DEATHS) -> None:
        self._deaths: deque[float] = deque(maxlen=most_deaths)

    def allows(self, now: float) -> bool:
        """Record a death; false when it is one too many."""
        self._deaths.append(now)
        full = len(self._deaths) == self._deaths.maxlen
        return not full or now - self._deaths[0] > WITHIN_SECONDS
