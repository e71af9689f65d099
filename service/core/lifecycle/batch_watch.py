"""Batch watch: when a device that computes a batch counts as hung, while the engine's loop lives on.

The rules:
- A batch may take `MULTIPLE` times the longest that was measured, and never less than `FLOOR_SECONDS`.
- Each try of a part of it (a batch is split after a failure) begins its time anew.
- A batch that has not begun waits for other work of the device, such as weights that are loaded: `MOST_SECONDS`.

Pure: awake time is passed in.
"""

from __future__ import annotations

MULTIPLE = 10
FLOOR_SECONDS = 60.0
"""A machine that swaps, or whose cores others take, may be as much slower than when it was measured."""
MOST_SECONDS = 600.0


class BatchWatch:
    """Watches the batch at the head of what a device was given."""

    def __init__(self) -> None:
        self._longest_seconds = 0.0
        self._progress: tuple[int, int] | None = None
        self._since_seconds = 0.0

    def measured(self, seconds: float) -> None:
        """Learn from a completed batch."""
        self._longest_seconds = max(seconds, self._longest_seconds)

    @property
    def limit_seconds(self) -> float:
        """The longest time without progress of a batch that has begun."""
        return min(max(MULTIPLE * self._longest_seconds, FLOOR_SECONDS), MOST_SECONDS)

    def hung_seconds(self, progress: tuple[int, int] | None, awake_seconds: float) -> float | None:
        """For how long the batch at the head has made no progress, if that is too long.

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
