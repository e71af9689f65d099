"""Rounds of points that wait to be sent, oldest first; when there is no more room, the oldest are given up. Pure.

A round leaves for good only when its delivery is known to have succeeded, or when it was refused as it is: sending it
once more would only hold up all later ones.
"""

from __future__ import annotations

from collections import deque
from enum import Enum

from service.signals.points import Point

Round = tuple[Point, ...]

MOST_ROUNDS = 360
"""An hour of rounds: about 4,000 points, one megabyte."""
MOST_POINTS = 900
"""In one call; CloudWatch takes 1,000."""


class SendOutcome(Enum):
    """How a delivery ended."""

    SENT = "sent"
    FAILED = "failed"
    """Try again."""
    REFUSED = "refused"
    """Never try this again."""


class Outbox:
    """What waits, and what is on its way."""

    def __init__(self, most_rounds: int = MOST_ROUNDS, most_points: int = MOST_POINTS) -> None:
        self._waiting: deque[Round] = deque()
        self._leaving: list[Round] = []
        self._most_rounds = most_rounds
        self._most_points = most_points

    def __len__(self) -> int:
        """Rounds that are not known to have arrived: at most the limit, and what one call takes."""
        return len(self._waiting) + len(self._leaving)

    def put(self, each: Round) -> int:
        """Add the latest round; how many old ones were given up for it."""
        self._waiting.append(each)
        return self._trim()

    def take(self) -> Round:
        """The points of the oldest rounds, as many as one call takes; none while others are on their way."""
        if self._leaving:
            return ()
        room = self._most_points
        while self._waiting and len(self._waiting[0]) <= room:
            self._leaving.append(self._waiting.popleft())
            room -= len(self._leaving[-1])
        return tuple(point for each in self._leaving for point in each)

    def settle(self, outcome: SendOutcome) -> int:
        """Note how the delivery ended; how many rounds were given up because of it."""
        left, self._leaving = self._leaving, []
        if outcome is SendOutcome.SENT:
            return 0
        if outcome is SendOutcome.REFUSED:
            return len(left)
        self._waiting.extendleft(reversed(left))
        return self._trim()

    def _trim(self) -> int:
        excess = max(len(self._waiting) - self._most_rounds, 0)
        for _ in range(excess):
            self._waiting.popleft()
        return excess
