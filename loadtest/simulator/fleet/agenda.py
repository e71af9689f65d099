"""What is due, in order of time; of two things at one time, what was noted first. Pure."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable

Action = Callable[[float], None]
"""It is told the time at which it happens."""


class Agenda:
    """Actions and their times."""

    def __init__(self) -> None:
        self._due: list[tuple[float, int, Action]] = []
        self._noted = 0

    def at(self, seconds: float, action: Action) -> None:
        """Note it."""
        self._noted += 1
        heapq.heappush(self._due, (seconds, self._noted, action))

    def happen(self, now: float) -> None:
        """Let everything happen that is due by now, also what thereby becomes due."""
        while self.next_seconds <= now:
            at, _, action = heapq.heappop(self._due)
            action(max(at, now))

    @property
    def next_seconds(self) -> float:
        """When something is due; infinite if nothing is."""
        return self._due[0][0] if self._due else math.inf
