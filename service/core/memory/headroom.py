"""The bytes that batches may take now: fewer at once when memory is short, slowly more when it is not. Pure.

Another process on the device takes memory within milliseconds and gives it back as it likes. Following it down late
costs a failed batch; following it up late costs a little speed.
"""

from __future__ import annotations

GROWTH_PER_SECOND = 0.05
"""Share of what is available by which the room grows back in a second: from nothing to all of it in 20 s."""

HOLD_SECONDS = 5.0
"""After a shrink the room does not grow for so long: what was taken once is often taken again."""

FAILURE_SHARE = 0.75
"""A batch for which memory ran out shows that less than it needed is there."""


class Headroom:
    """Bytes for batches, between a floor that always holds and what is there.

    A floor for which there was no room at first rises as the room does; it never falls while models stay.
    """

    def __init__(self, available_bytes: int, floor_bytes: int) -> None:
        self._wanted_floor_bytes = floor_bytes
        self.floor_bytes = min(floor_bytes, max(available_bytes, 0))
        self.bytes = max(available_bytes, self.floor_bytes)
        self.shrinks = 0
        self._held_until = 0.0
        self._observed_at: float | None = None

    def observe(self, available_bytes: int, now: float) -> None:
        """So many bytes are there for batches now."""
        since = 0.0 if self._observed_at is None else max(now - self._observed_at, 0.0)
        self._observed_at = now
        if available_bytes < self.bytes:
            self._shrink(available_bytes, now)
        elif now >= self._held_until:
            step = int(available_bytes * GROWTH_PER_SECOND * since)
            self.bytes = max(self.bytes, min(available_bytes, self.bytes + step))
            self.floor_bytes = max(self.floor_bytes, min(self._wanted_floor_bytes, self.bytes))

    def failed(self, needed_bytes: int, now: float) -> None:
        """Memory ran out for a batch that was thought to need so many bytes."""
        self._shrink(int(min(needed_bytes, self.bytes) * FAILURE_SHARE), now)

    def keep(self, floor_bytes: int) -> None:
        """Models came or went: from now on the floor must hold so much, as far as there is room for it."""
        self._wanted_floor_bytes = floor_bytes
        self.floor_bytes = min(floor_bytes, self.bytes)

    def _shrink(self, to_bytes: int, now: float) -> None:
        smaller = max(to_bytes, self.floor_bytes)
        if smaller < self.bytes:
            self.bytes = smaller
            self.shrinks += 1
            self._held_until = now + HOLD_SECONDS
