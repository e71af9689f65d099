"""Adds up bytes from any thread and tells whoever wants to know how far the work is."""

from __future__ import annotations

import threading
from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Told (bytes done, bytes in all). Work that must be done again takes the first back, or adds to the second."""


def ignore(_done_bytes: int, _total_bytes: int) -> None:
    """The Progress of somebody who is not curious."""


class Meter:
    """The bytes of one piece of work."""

    def __init__(self, report: Progress, total_bytes: int) -> None:
        self.total_bytes = total_bytes
        self._report = report
        self._done_bytes = 0
        self._lock = threading.Lock()

    def advance(self, count_bytes: int) -> None:
        with self._lock:
            self._done_bytes += count_bytes
            self._report(self._done_bytes, self.total_bytes)
