"""Silence of another process that should send heartbeats, in the awake time of the one that listens.

Pure: time is passed in.
"""

from __future__ import annotations

from service.core.lifecycle.awake_clock import AwakeClock


class Silence:
    """The silence of one process since it was last heard."""

    def __init__(self) -> None:
        self._clock = AwakeClock()
        self._heard_seconds = 0.0

    @property
    def seconds(self) -> float:
        """Its length at the last tick."""
        return self._clock.seconds - self._heard_seconds

    def heard(self) -> None:
        """End the silence."""
        self._heard_seconds = self._clock.seconds

    def tick(self, now: float) -> float:
        """Let time pass; returns `seconds`."""
        self._clock.tick(now)
        return self.seconds
