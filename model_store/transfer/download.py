"""Fetching blobs: several ranges at once, written where they belong, hashed as they come, verified, renamed.

    each worker: the next range (of a file that nobody is at, if there is one) → its bytes → on a failure, wait and go
    on from the byte that was reached → the worker that completes a file verifies, syncs and renames it

A file with a wrong digest goes into quarantine and is fetched once more; then CorruptObject. Whatever ends a fetch, the
pieces that have arrived stay, and the next fetch asks only for the others.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from model_store import fileio
from model_store.errors import CorruptObject, InvalidManifest, MissingFile, RemoteChanged, RemoteUnavailable
from model_store.local.blobs import commit_blob
from model_store.local.layout import Layout
from model_store.local.partial_blob import Partial
from model_store.manifest import File
from model_store.remote.base import Opened, Piece, Remote
from model_store.remote.keys import blob_key
from model_store.remote.retry import PATIENCE, Patience, Tries

TRIES_FOR_A_DIGEST = 2


@dataclass(frozen=True, slots=True)
class Pace:
    """How blobs are fetched. A range is one request; `workers` of them are on their way at once."""

    workers: int = 8
    range_bytes: int = 12 * 2**20
    patience: Patience = PATIENCE


PACE = Pace()


@dataclass(slots=True)
class _Blob:
    """One blob, and which of its ranges nobody has taken yet."""

    file: File
    partial: Partial
    ranges: deque[tuple[int, int]]
    etag: str | None = None
    workers: int = 0
    wrong: int = 0


@dataclass(slots=True)
class _Work:
    """All blobs of one fetch, shared by its workers. `failure` ends it."""

    blobs: list[_Blob]
    lock: threading.Lock = field(default_factory=threading.Lock)
    failure: BaseException | None = None

    def take(self) -> tuple[_Blob, int, int] | None:
        """The next range: of the first blob that has the fewest workers, so that most pieces arrive in their order."""
        with self.lock:
            waiting = [blob for blob in self.blobs if blob.ranges]
            if not waiting or self.failure is not None:
                return None
            blob = min(waiting, key=lambda blob: blob.workers)
            blob.workers += 1
            return blob, *blob.ranges.popleft()


class Fetch:
    """One fetch from `remote` into a store whose `fetches` lock the caller holds."""

    def __init__(self, layout: Layout, remote: Remote, pace: Pace, advance: fileio.Advance) -> None:
        self._layout = layout
        self._remote = remote
        self._pace = pace
        self._advance = advance
        self._lock = threading.Lock()

    def run(self, files: Sequence[File]) -> None:
        """Fetch all of `files`, each a digest of its own.

        Raises CorruptObject, MissingFile, RemoteRefused, RemoteUnavailable, RemoteChanged, StoreFull, StoreUnwritable.
        """
        work = _Work([])
        # Daemons, unlike a pool's threads: a process that is told to stop does not wait for the rest of a model.
        workers = [threading.Thread(target=self._labour, args=(work,), daemon=True) for _ in range(self._pace.workers)]
        with fileio.writing(self._layout.root):
            try:
                work.blobs += map(self._open, files)
                for worker in workers:
                    worker.start()
                for worker in workers:
                    worker.join()
            except BaseException as error:
                work.failure = work.failure or error
            finally:
                for worker in workers:
                    if worker.ident is not None:
                        worker.join()
                for blob in work.blobs:
                    blob.partial.close()
            if work.failure is not None:
                raise work.failure

    def _open(self, file: File) -> _Blob:
        partial = Partial(self._layout.partial, file.sha256, file.size_bytes)
        self._count(file.size_bytes - sum(end - start for start, end in partial.missing))
        blob = _Blob(file, partial, deque(_cut(partial.missing, self._pace.range_bytes)))
        if not blob.ranges:
            self._finish(blob)
        return blob

    def _labour(self, work: _Work) -> None:
        """One worker: range after range, until there is none or something has failed."""
        while taken := work.take():
            blob, start, end = taken
            try:
                self._fetch_range(work, blob, start, end)
                with work.lock:
                    blob.workers -= 1
                    last = not blob.workers and not blob.ranges and work.failure is None
                if last:
                    self._finish(blob)
            except BaseException as error:
                with work.lock:
                    work.failure = work.failure or error

    def _fetch_range(self, work: _Work, blob: _Blob, start: int, end: int) -> None:
        """Go on from the byte that was reached until the range is whole, as long as patience lasts."""
        tries, at = Tries(self._pace.patience), start
        while at < end:
            try:
                for piece in self._pieces(blob, at, end):
                    blob.partial.write(at, piece)
                    at += len(piece)
                    self._count(len(piece))
                    tries.progress()
                    if work.failure is not None:
                        return
                if at < end:
                    raise RemoteUnavailable(f"The remote store {self._remote.url} sent {end - at:,} bytes too few.")
            except RemoteUnavailable as error:
                tries.failed(error)
            except RemoteChanged as error:
                # Somebody may have uploaded the same bytes again; then they have another ETag, and all is well.
                self._look(blob)
                tries.failed(RemoteUnavailable(error.detail))

    def _pieces(self, blob: _Blob, start: int, end: int) -> Iterator[Piece]:
        with self._remote.open_range(blob_key(blob.file.sha256), start, end, blob.etag) as opened:
            self._pin(blob, opened)
            left = end - start
            for piece in opened.pieces:
                yield piece[:left]
                left -= len(piece)
                if left <= 0:
                    return

    def _pin(self, blob: _Blob, opened: Opened) -> None:
        """The first answer says which object it is; all others must be of the same one."""
        self._require_size(blob, opened.size_bytes)
        with self._lock:
            blob.etag = blob.etag or opened.etag
        if blob.etag != opened.etag:
            raise RemoteChanged(f"The object {self._place(blob)} was replaced while it was being read.")

    def _look(self, blob: _Blob) -> None:
        """See which object it is now. Raises MissingFile or InvalidManifest if it is not the one that is wanted."""
        stat = self._remote.stat(blob_key(blob.file.sha256))
        if stat is None:
            place = f"{self._place(blob)} ({blob.file.path})"
            raise MissingFile(f"The object {place} is not there. Publish the model again.")
        self._require_size(blob, stat.size_bytes)
        blob.etag = stat.etag

    def _require_size(self, blob: _Blob, size_bytes: int) -> None:
        if size_bytes != blob.file.size_bytes:
            raise InvalidManifest(
                f"The manifest says that {blob.file.path} has {blob.file.size_bytes:,} bytes, but the object "
                f"{self._place(blob)} has {size_bytes:,}. Publish the model again."
            )

    def _place(self, blob: _Blob) -> str:
        return f"{self._remote.url}/{blob_key(blob.file.sha256)}"

    def _finish(self, blob: _Blob) -> None:
        partial = blob.partial
        assert partial.complete
        if partial.found_digest == blob.file.sha256:
            partial.sync()
            commit_blob(self._layout, partial.path, blob.file.sha256)
            partial.forget()
            return
        self._quarantine(blob)

    def _quarantine(self, blob: _Blob) -> None:
        """Keep what was fetched for whoever asks why, and fetch it once more. Raises CorruptObject the second time."""
        partial, file = blob.partial, blob.file
        fileio.make_folder(self._layout.quarantine)
        partial.path.replace(self._layout.quarantine / file.sha256)
        partial.close()
        partial.forget()
        blob.wrong += 1
        if blob.wrong == TRIES_FOR_A_DIGEST:
            raise CorruptObject(self._place(blob), wanted=file.sha256, found=partial.found_digest)
        self._count(-file.size_bytes)
        blob.partial = Partial(self._layout.partial, file.sha256, file.size_bytes)
        blob.ranges.extend(_cut(blob.partial.missing, self._pace.range_bytes))

    def _count(self, count_bytes: int) -> None:
        with self._lock:
            self._advance(count_bytes)


def _cut(intervals: Sequence[tuple[int, int]], size_bytes: int) -> Iterator[tuple[int, int]]:
    """The same bytes as intervals of at most this size. Pure."""
    for start, end in intervals:
        for at in range(start, end, size_bytes):
            yield at, min(at + size_bytes, end)
