"""Headroom: the bytes that batches may take now. It shrinks at once when memory is short and grows back slowly.

Another process on the device takes memory within milliseconds and frees it at will. Shrinking late costs a failed
batch; growing late costs a little speed (additive increase after multiplicative decrease, as in congestion control).
Pure: readings and time are passed in.
"""

from __future__ import annotations

GROWTH_PER_SECOND = 0.05
"""Share of the available bytes by which the headroom grows in a second: from nothing to all of it in 20 s."""

HOLD_SECONDS = 5.0
"""The headroom does not grow for this long after a shrink: memory that was taken once is often taken again."""

FAILURE_SHARE = 0.75
"""Share of a failed batch's predicted bytes that the headroom shrinks to: less than the prediction is there."""


class Headroom:
    """Bytes for batches, between a floor that always holds and what the device has.

    A floor for which memory was too short at first rises with the headroom; it never falls while models stay.
    """

    def __init__(self, available_bytes: int, floor_bytes: int) -> None:
        self._wanted_floor_bytes = floor_bytes
        self.floor_bytes = min(floor_bytes, max(available_bytes, 0))
        self.bytes = max(available_bytes, self.floor_bytes)
        self.shrinks = 0
        self._held_until = 0.0
        self._updated_at: float | None = None

    def update(self, available_bytes: int, now: float) -> None:
        """Follow a reading of what is available for batches."""
        since = 0.0 if self._updated_at is None else max(now - self._updated_at, 0.0)
        self._updated_at = now
        if available_bytes < self.bytes:
            self._shrink(available_bytes, now)
        elif now >= self._held_until:
            step = int(available_bytes * GROWTH_PER_SECOND * since)
            self.bytes = max(self.bytes, min(available_bytes, self.bytes + step))
            self.floor_bytes = max(self.floor_bytes, min(self._wanted_floor_bytes, self.bytes))

    def failed(self, needed_bytes: int, now: float) -> None:
        """Shrink, because memory ran out for a batch that was predicted to need these bytes."""
        self._shrink(int(min(needed_bytes, self.bytes) * FAILURE_SHARE), now)

    def require(self, floor_bytes: int) -> None:
        """Replace the wanted floor, as models are added or removed."""
        self._wanted_floor_bytes = floor_bytes
        self.floor_bytes = min(floor_bytes, self.bytes)

    def _shrink(self, to_bytes: int, now: float) -> None:
        smaller = max(to_bytes, self.floor_bytes)
        if smaller < self.bytes:
            self.bytes = smaller
            self.shrinks += 1
            self._held_until = now + HOLD_SECONDS
