"""How often a part may die: the third death within a minute is the last. Pure; time is passed in."""

from __future__ import annotations

from collections import deque

MOST_DEATHS = 3
WITHIN_SECONDS = 60.0


class RestartLimit:
    """Deaths of one part, and whether it is worth starting again."""

    def __init__(self) -> None:
        self._deaths: deque[float] = deque(maxlen=MOST_DEATHS)

    def may_live_again(self, now: float) -> bool:
        """Note a death; false when it was one too many."""
        self._deaths.append(now)
        return len(self._deaths) < MOST_DEATHS or now - self._deaths[0] > WITHIN_SECONDS
