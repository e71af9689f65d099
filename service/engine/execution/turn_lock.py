"""Turn lock: a lock that is passed on in the order in which it was asked for, which Python's own does not promise."""

from __future__ import annotations

from collections import deque
from threading import Lock


class TurnLock:
    """One thread at a time, first come, first served; not reentrant."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._held = False
        self._waiting: deque[Lock] = deque()

    def locked(self) -> bool:
        """True while a thread has it."""
        return self._held

    def __enter__(self) -> None:
        with self._guard:
            if not self._held:
                self._held = True
                return
            turn = Lock()
            turn.acquire()
            self._waiting.append(turn)
        turn.acquire()  # Whoever has the lock releases this one, and hands the lock on so.

    def __exit__(self, *_error: object) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._held = False
