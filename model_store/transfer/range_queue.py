"""The work queue of a download: which byte ranges of which blobs are still to be fetched. Thread-safe; no I/O.

Workers take ranges of the blob that has the fewest workers, so that most pieces of a blob arrive in order.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from model_store.local.partial_blob import Interval, PartialBlob
from model_store.manifest import File


@dataclass(slots=True)
class BlobDownload:
    """One blob and its ranges that no worker has taken yet."""

    file: File
    partial: PartialBlob
    ranges: deque[Interval]
    etag: str | None = None
    workers: int = 0
    corrupt_copies: int = 0


@dataclass(slots=True)
class RangeQueue:
    """All blobs of one download, shared by its workers, and the error that ended it, if any."""

    blobs: list[BlobDownload] = field(default_factory=list)
    failure: BaseException | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self) -> tuple[BlobDownload, Interval] | None:
        """The next range and its blob; None if none is left or the download has failed."""
        with self._lock:
            waiting = [blob for blob in self.blobs if blob.ranges]
            if not waiting or self.failure is not None:
                return None
            blob = min(waiting, key=lambda blob: blob.workers)
            blob.workers += 1
            return blob, blob.ranges.popleft()

    def done(self, blob: BlobDownload) -> bool:
        """Report that a range of `blob` is fetched; true if it was the last one, and the blob is to be finished."""
        with self._lock:
            blob.workers -= 1
            return not blob.workers and not blob.ranges and self.failure is None

    def fail(self, error: BaseException) -> None:
        """End the download; the first error is kept."""
        with self._lock:
            self.failure = self.failure or error


def cut(intervals: Sequence[Interval], size_bytes: int) -> Iterator[Interval]:
    """The same bytes as intervals of at most `size_bytes`. Pure."""
    for start, end in intervals:
        for at in range(start, end, size_bytes):
            yield at, min(at + size_bytes, end)
