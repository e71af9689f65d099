"""Standstill: for how long something that should move on has not, in the awake time of the one that looks.

Pure: awake time is passed in.
"""

from __future__ import annotations

_NOTHING = object()


class Standstill:
    """Watches one mark that changes as long as somebody else makes progress."""

    def __init__(self) -> None:
        self._mark: object = _NOTHING
        self._since_seconds = 0.0

    def seconds(self, mark: object | None, awake_seconds: float) -> float:
        """For how long the mark has been the same; 0 while it is None, which is before the first one."""
        if mark is None or mark != self._mark:
            self._mark, self._since_seconds = mark, awake_seconds
        return awake_seconds - self._since_seconds
