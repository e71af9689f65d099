"""Progress of work that is counted in bytes: the two callback types, and a counter that any thread may add to."""

from __future__ import annotations

import threading
from collections.abc import Callable

OnBytes = Callable[[int], None]
"""Called with the number of bytes that were just read or written; negative for bytes that must be fetched again."""

Progress = Callable[[int, int], None]
"""Called with (bytes done, total bytes). Bytes done may fall, and the total rise, when work has to be repeated."""


def ignore_bytes(_count_bytes: int) -> None:
    """An OnBytes that does nothing."""


def no_progress(_done_bytes: int, _total_bytes: int) -> None:
    """A Progress that does nothing."""


class ProgressCounter:
    """Adds up the bytes of one piece of work and reports the sum after each addition. Thread-safe."""

    def __init__(self, report: Progress, total_bytes: int) -> None:
        self.total_bytes = total_bytes
        self._report = report
        self._done_bytes = 0
        self._lock = threading.Lock()

    def add(self, count_bytes: int) -> None:
        with self._lock:
            self._done_bytes += count_bytes
            self._report(self._done_bytes, self.total_bytes)
