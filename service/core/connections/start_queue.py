"""The queue of requests that were taken on and whose work has not begun: a few begin in each turn of the event loop.

The work of a request on the event loop takes milliseconds. Were all begun at once that came at once, the loop would
stop for seconds: for heartbeats, for health checks, for those that came before. Pure: time is passed in.

The rule: in order of arrival, but the newest first while the oldest is late (adaptive LIFO): it will hardly be answered
in time, and the newest can be.
"""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

from service.core.connections.admission import LAG_SHARE, Admitted

STARTS_PER_TURN = 4
TURN_SECONDS = 0.005
"""After so long a turn is over, where nobody has waited for its end."""

T = TypeVar("T")


class StartQueue(Generic[T]):
    """The requests that wait for their turn, and how many have begun in this one."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[T, Admitted]] = deque()
        self._begun = 0
        self._turn_seconds = float("-inf")

    def __len__(self) -> int:
        return len(self._waiting)

    def may_begin(self, now: float) -> bool:
        """True if a request that has come may begin at once; else it is to wait."""
        if now - self._turn_seconds > TURN_SECONDS:
            self._turn_seconds, self._begun = now, 0
        if self._waiting or self._begun >= STARTS_PER_TURN:
            return False
        self._begun += 1
        return True

    def wait(self, request: T, admitted: Admitted) -> None:
        """Let a request wait for its turn."""
        self._waiting.append((request, admitted))

    def next_turn(self, now: float) -> list[T]:
        """A turn of the event loop begins: the requests whose work begins in it."""
        count = self._begun = min(STARTS_PER_TURN, len(self._waiting))
        self._turn_seconds = now
        return [self._take(now) for _ in range(count)]

    def _take(self, now: float) -> T:
        _, oldest = self._waiting[0]
        late = now - oldest.arrived_seconds > LAG_SHARE * oldest.deadline_seconds
        request, _ = self._waiting.pop() if late else self._waiting.popleft()
        return request
