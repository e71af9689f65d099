"""A bounded outbox of rounds of points (one round each period), sent oldest first. Pure.

The rule: a round leaves only when its delivery has succeeded, when CloudWatch refused its content (sending it again
would hold up all later rounds), or when the outbox is full and it is the oldest.
"""

from __future__ import annotations

from collections import deque
from enum import Enum

from service.signals.points import Point

Round = tuple[Point, ...]

MOST_ROUNDS = 360
"""An hour's rounds: about 4,000 points, one megabyte."""
MOST_POINTS = 900
"""Points of one call; CloudWatch accepts 1,000."""


class SendOutcome(Enum):
    """The outcome of a delivery."""

    SENT = "sent"
    FAILED = "failed"
    """Worth another try."""
    REFUSED = "refused"
    """The points themselves are at fault."""


class Outbox:
    """Rounds that wait, and rounds that are being delivered."""

    def __init__(self, most_rounds: int = MOST_ROUNDS, most_points: int = MOST_POINTS) -> None:
        self._waiting: deque[Round] = deque()
        self._leaving: list[Round] = []
        self._most_rounds = most_rounds
        self._most_points = most_points

    def __len__(self) -> int:
        """Rounds not known to have arrived: at most `most_rounds` that wait, and those of one call."""
        return len(self._waiting) + len(self._leaving)

    def put(self, latest: Round) -> int:
        """Add the latest round; returns the number of old rounds dropped for it."""
        self._waiting.append(latest)
        return self._trim()

    def take(self) -> Round:
        """Take the points of the oldest rounds, up to `most_points`; none while a delivery is under way."""
        if self._leaving:
            return ()
        left = self._most_points
        while self._waiting and len(self._waiting[0]) <= left:
            self._leaving.append(self._waiting.popleft())
            left -= len(self._leaving[-1])
        return tuple(point for each in self._leaving for point in each)

    def conclude(self, outcome: SendOutcome) -> int:
        """Record the outcome of the delivery; returns the number of rounds dropped because of it."""
        sent, self._leaving = self._leaving, []
        if outcome is SendOutcome.SENT:
            return 0
        if outcome is SendOutcome.REFUSED:
            return len(sent)
        self._waiting.extendleft(reversed(sent))
        return self._trim()

    def _trim(self) -> int:
        excess = max(len(self._waiting) - self._most_rounds, 0)
        for _ in range(excess):
            self._waiting.popleft()
        return excess
