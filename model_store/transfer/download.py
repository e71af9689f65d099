"""Download of blobs: fetches several ranges at once, writes them at their offsets, hashes, verifies and renames.

    each worker: take a range → write its bytes → after an error, wait and continue from the last byte →
    the worker that completes a blob verifies, syncs and renames it

Workers take ranges of the blob that has the fewest workers, so that most pieces of a blob arrive in order. A blob with
a wrong digest is moved to the quarantine and fetched once more; then CorruptObject is raised. Arrived pieces
stay on the disk, however a download ends, and the next one fetches only the others.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from model_store import fileio
from model_store.errors import CorruptObject, InvalidManifest, MissingFile, RemoteChanged, RemoteUnavailable
from model_store.fileio import OnBytes, Piece
from model_store.local.blobs import commit_blob
from model_store.local.layout import Layout
from model_store.local.partial_blob import Interval, PartialBlob
from model_store.manifest import File
from model_store.remote.base import ObjectRange, Remote, blob_key
from model_store.remote.retry import DEFAULT_RETRY, Attempts, RetryPolicy


@dataclass(slots=True)
class BlobDownload:
    """One blob, and its ranges that no worker has taken yet."""

    file: File
    partial: PartialBlob
    ranges: deque[Interval]
    etag: str | None = None
    workers: int = 0
    corrupt_copies: int = 0


@dataclass(slots=True)
class RangeQueue:
    """The blobs of one download, shared by its workers, and the error that ended it, if any."""

    blobs: list[BlobDownload] = field(default_factory=list)
    failure: BaseException | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self) -> tuple[BlobDownload, Interval] | None:
        """Take the next range and its blob; None if none is left or the download has failed."""
        with self._lock:
            waiting = [blob for blob in self.blobs if blob.ranges]
            if not waiting or self.failure is not None:
                return None
            blob = min(waiting, key=lambda blob: blob.workers)
            blob.workers += 1
            return blob, blob.ranges.popleft()

    def done(self, blob: BlobDownload) -> bool:
        """Report that a range of `blob` is fetched; returns True if it was the last one."""
        with self._lock:
            blob.workers -= 1
            return not blob.workers and not blob.ranges and self.failure is None

    def fail(self, error: BaseException) -> None:
        """End the download; the first error is kept."""
        with self._lock:
            self.failure = self.failure or error


def cut(intervals: Sequence[Interval], size_bytes: int) -> Iterator[Interval]:
    """Cut intervals into parts of at most `size_bytes`. Pure."""
    for start, end in intervals:
        for at in range(start, end, size_bytes):
            yield at, min(at + size_bytes, end)


MAX_CORRUPT_COPIES = 2


@dataclass(frozen=True, slots=True)
class DownloadOptions:
    """Options of a download: `workers` requests at once, each for one range of at most `range_bytes`."""

    workers: int = 8
    range_bytes: int = 12 * 2**20
    retry: RetryPolicy = DEFAULT_RETRY


DEFAULT_OPTIONS = DownloadOptions()


class Download:
    """One download from `remote` into a store; the caller holds its lock `fetches`."""

    def __init__(self, layout: Layout, remote: Remote, options: DownloadOptions, on_bytes: OnBytes) -> None:
        self._layout = layout
        self._remote = remote
        self._options = options
        self._on_bytes = on_bytes
        self._lock = threading.Lock()

    def run(self, files: Sequence[File]) -> None:
        """Fetch all `files`; their digests must differ.

        Raises CorruptObject, MissingFile, RemoteRefused, RemoteUnavailable, RemoteChanged, StoreFull, StoreUnwritable.
        """
        queue = RangeQueue()
        # Daemons, unlike a pool's threads: a process that is told to stop does not wait for the rest of a model.
        threads = [
            threading.Thread(target=self._work, args=(queue,), daemon=True) for _ in range(self._options.workers)
        ]
        with fileio.writing(self._layout.root):
            try:
                queue.blobs += map(self._open, files)
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
            except BaseException as error:
                queue.fail(error)
            finally:
                for thread in threads:
                    if thread.ident is not None:
                        thread.join()
                for blob in queue.blobs:
                    blob.partial.close()
            if queue.failure is not None:
                raise queue.failure

    def _open(self, file: File) -> BlobDownload:
        partial = PartialBlob(self._layout.partial, file.sha256, file.size_bytes)
        self._count(file.size_bytes - sum(end - start for start, end in partial.missing))
        blob = BlobDownload(file, partial, deque(cut(partial.missing, self._options.range_bytes)))
        if not blob.ranges:
            self._finish(blob)
        return blob

    def _work(self, queue: RangeQueue) -> None:
        """Fetch range after range as one worker, until none is left or the download has failed."""
        while taken := queue.take():
            blob, (start, end) = taken
            try:
                self._fetch_range(queue, blob, start, end)
                if queue.done(blob):
                    self._finish(blob)
            except BaseException as error:
                queue.fail(error)

    def _fetch_range(self, queue: RangeQueue, blob: BlobDownload, start: int, end: int) -> None:
        """Fetch a range, after an error from the last byte on, as long as the retry policy allows."""
        attempts, at = Attempts(self._options.retry), start
        while at < end:
            try:
                for piece in self._pieces(blob, at, end):
                    blob.partial.write(at, piece)
                    at += len(piece)
                    self._count(len(piece))
                    attempts.progress()
                    if queue.failure is not None:
                        return
                if at < end:
                    raise RemoteUnavailable(f"The remote store {self._remote.url} sent {end - at:,} bytes too few.")
            except RemoteUnavailable as error:
                attempts.failed(error)
            except RemoteChanged as error:
                # If the same bytes were uploaded again, only the ETag is another one.
                self._refresh_etag(blob)
                attempts.failed(RemoteUnavailable(error.detail))

    def _pieces(self, blob: BlobDownload, start: int, end: int) -> Iterator[Piece]:
        with self._remote.open_range(blob_key(blob.file.sha256), start, end, blob.etag) as opened:
            self._check_object(blob, opened)
            left = end - start
            for piece in opened.pieces:
                yield piece[:left]
                left -= len(piece)
                if left <= 0:
                    return

    def _check_object(self, blob: BlobDownload, opened: ObjectRange) -> None:
        """Check a response's size, and its ETag against the first response's. Raises RemoteChanged."""
        self._check_size(blob, opened.size_bytes)
        with self._lock:
            blob.etag = blob.etag or opened.etag
        if blob.etag != opened.etag:
            raise RemoteChanged(f"The object {self._url(blob)} was replaced while it was being read.")

    def _refresh_etag(self, blob: BlobDownload) -> None:
        """Read the object's current ETag. Raises MissingFile, or InvalidManifest if its size is wrong."""
        stat = self._remote.stat(blob_key(blob.file.sha256))
        if stat is None:
            place = f"{self._url(blob)} ({blob.file.path})"
            raise MissingFile(f"The object {place} is not there. Publish the model again.")
        self._check_size(blob, stat.size_bytes)
        blob.etag = stat.etag

    def _check_size(self, blob: BlobDownload, size_bytes: int) -> None:
        if size_bytes != blob.file.size_bytes:
            raise InvalidManifest(
                f"The manifest says that {blob.file.path} has {blob.file.size_bytes:,} bytes, but the object "
                f"{self._url(blob)} has {size_bytes:,}. Publish the model again."
            )

    def _url(self, blob: BlobDownload) -> str:
        return f"{self._remote.url}/{blob_key(blob.file.sha256)}"

    def _finish(self, blob: BlobDownload) -> None:
        """Give a complete blob its final name if its digest is right, else put it into quarantine."""
        partial = blob.partial
        assert partial.complete
        if partial.found_digest == blob.file.sha256:
            partial.sync()
            commit_blob(self._layout, partial.path, blob.file.sha256)
            partial.delete()
            return
        self._quarantine(blob)

    def _quarantine(self, blob: BlobDownload) -> None:
        """Keep the corrupt copy for diagnosis and fetch the blob again. Raises CorruptObject the second time."""
        partial, file = blob.partial, blob.file
        fileio.make_folder(self._layout.quarantine)
        partial.path.replace(self._layout.quarantine / file.sha256)
        partial.close()
        partial.delete()
        blob.corrupt_copies += 1
        if blob.corrupt_copies == MAX_CORRUPT_COPIES:
            raise CorruptObject(self._url(blob), wanted=file.sha256, found=partial.found_digest)
        self._count(-file.size_bytes)
        blob.partial = PartialBlob(self._layout.partial, file.sha256, file.size_bytes)
        blob.ranges.extend(cut(blob.partial.missing, self._options.range_bytes))

    def _count(self, count_bytes: int) -> None:
        with self._lock:
            self._on_bytes(count_bytes)
