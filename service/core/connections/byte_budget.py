"""A byte budget: the bytes that all unfinished bodies and unread answers of a worker hold together. Pure.

The rule: when the budget is exceeded, the transfer that holds most is given up, not the one that came last. So those
who fill the budget pay for it, and small requests pass.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class ByteBudget(Generic[T]):
    """Bytes by holder; only transfers that are unfinished can be given up, but all count until they are released."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._held: dict[T, int] = {}
        self._unfinished: set[T] = set()
        self.held_bytes = 0

    def hold(self, holder: T, count: int) -> T | None:
        """Add bytes to a transfer that goes on; returns the one to give up if the budget is exceeded by several."""
        self._held[holder] = self._held.get(holder, 0) + count
        self._unfinished.add(holder)
        self.held_bytes += count
        if self.held_bytes <= self._limit_bytes or len(self._held) == 1:
            return None
        return max(self._unfinished, key=lambda each: self._held[each])

    def finish(self, holder: T) -> None:
        """A transfer is complete: its bytes stay held, and it is not given up any more."""
        self._unfinished.discard(holder)

    def release(self, holder: T) -> None:
        """Free all bytes of a holder; nothing happens for one that is not known."""
        self.held_bytes -= self._held.pop(holder, 0)
        self._unfinished.discard(holder)
