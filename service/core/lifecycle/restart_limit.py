"""Restart limit of a process: the third death within a minute is not followed by a restart. Pure: time is passed in."""

from __future__ import annotations

from collections import deque

MOST_DEATHS = 3
WITHIN_SECONDS = 60.0


class RestartLimit:
    """The recent deaths of one process."""

    def __init__(self) -> None:
        self._deaths: deque[float] = deque(maxlen=MOST_DEATHS)

    def allows(self, now: float) -> bool:
        """Record a death; false when it was the `MOST_DEATHS`th within `WITHIN_SECONDS`."""
        self._deaths.append(now)
        return len(self._deaths) < MOST_DEATHS or now - self._deaths[0] > WITHIN_SECONDS
