"""Linger: what still comes after the last answer of a connection is read and dropped, for a while. Pure.

To close with unread bytes would reset the connection, and destroy the answer on its way.
"""

from __future__ import annotations

import math

HEAD_LINGER_BYTES = 1024 * 1024
"""What is read and dropped after a refusal."""
ALL_THAT_COMES = math.inf
"""Of a body that was declared, or of several: as much as comes in time."""


class Linger:
    """The end of one connection: until `until` (seconds), and with so many bytes left to drop."""

    __slots__ = ("_bytes", "_until")

    def __init__(self, most_bytes: float, until: float) -> None:
        self._bytes = most_bytes
        self._until = until

    def drop(self, count: int) -> None:
        """Count bytes that came and were dropped."""
        self._bytes -= count

    def is_over(self, now: float) -> bool:
        """True once its time has passed."""
        return now > self._until

    @property
    def is_exceeded(self) -> bool:
        """True once more has come than is dropped."""
        return self._bytes < 0
