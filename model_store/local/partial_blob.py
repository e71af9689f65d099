"""Partial blob of a download: writes pieces at any offset, hashes them in order, and records them in a journal.

The journal has a line for each written piece. After a crash, a piece whose bytes on the disk still match its
line is kept; all others are downloaded again.

    start end sha256    an in-order piece: the digest of all bytes up to `end`, known anyway from the running hash
    start end crc32     an out-of-order piece: its own checksum; it is read back and hashed once all bytes before it are

The SHA-256 of the complete file is checked in the end, whatever the journal says.
"""

from __future__ import annotations

import hashlib
import os
import threading
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from model_store import fileio
from model_store.fileio import Piece

Interval = tuple[int, int]
"""Bytes `[start, end)`."""
_DIGEST_CHARACTERS = 64


class PartialBlob:
    """The file `<folder>/<digest>` and its journal, for one process at a time. Thread-safe."""

    def __init__(self, folder: Path, digest: str, size_bytes: int) -> None:
        fileio.make_folder(folder)
        self.path, self.digest, self.size_bytes = folder / digest, digest, size_bytes
        self._journal_path = folder / f"{digest}.journal"
        self._descriptor = _open(self.path, os.O_RDWR)
        self._lock = threading.Lock()
        self._hash = hashlib.sha256()
        self._hashed_bytes = 0
        self._hashing = False
        self._unhashed: dict[int, int] = {}
        recovered = list(self._recover())
        os.ftruncate(self._descriptor, max((end for _, end in recovered), default=0))
        self._journal = _open(self._journal_path, os.O_WRONLY | os.O_APPEND)
        self.missing = gaps(recovered, size_bytes)
        """Intervals that were missing when the file was opened."""

    @property
    def complete(self) -> bool:
        return self._hashed_bytes == self.size_bytes

    @property
    def found_digest(self) -> str:
        """The SHA-256 of the bytes hashed so far (hex digits)."""
        return self._hash.hexdigest()

    def write(self, start: int, piece: Piece) -> None:
        """Write a piece at the offset `start` and record it. Raises OSError."""
        fileio.write_at(self._descriptor, piece, start)
        if self._start_hashing(start, len(piece)):
            self._hash.update(piece)
            self._record(start, len(piece), self._hash.copy().hexdigest())
            self._hash_following(len(piece))
        else:
            self._record(start, len(piece), str(zlib.crc32(piece)))
            self._hash_if_next(start, piece)

    def sync(self) -> None:
        os.fsync(self._descriptor)

    def close(self) -> None:
        """Close the file and its journal, which stay on the disk."""
        for descriptor in (self._descriptor, self._journal):
            if descriptor >= 0:
                os.close(descriptor)
        self._descriptor = self._journal = -1

    def delete(self) -> None:
        """Remove the journal, and the file unless it was renamed."""
        fileio.remove(self._journal_path)
        fileio.remove(self.path)

    def _record(self, start: int, size_bytes: int, check: str) -> None:
        os.write(self._journal, f"{start} {start + size_bytes} {check}\n".encode())

    def _recover(self) -> Iterator[Interval]:
        """Yield the journal's pieces that are intact on the disk, in order; hashes those without a gap before."""
        at = 0
        for start, end, check in sorted(_lines(self._journal_path)):
            piece = os.pread(self._descriptor, end - start, start) if at <= start < end <= self.size_bytes else b""
            if piece and len(piece) == end - start and self._accept(start, piece, check):
                yield start, end
                at = end

    def _accept(self, start: int, piece: bytes, check: str) -> bool:
        """Accept a piece as written if its bytes match the digest or checksum of its journal line."""
        if len(check) != _DIGEST_CHARACTERS:
            intact = str(zlib.crc32(piece)) == check
            if intact:
                self._hash_if_next(start, piece)
            return intact
        prefix = self._hash.copy()
        prefix.update(piece)
        if prefix.hexdigest() != check or not self._start_hashing(start, len(piece)):
            return False
        self._hash = prefix
        self._hash_following(len(piece))
        return True

    def _start_hashing(self, start: int, size_bytes: int) -> bool:
        """Return True if the piece is next in order and no other thread is hashing; the caller then hashes it."""
        with self._lock:
            if self._hashing or start != self._hashed_bytes:
                return False
            self._unhashed[start] = start + size_bytes
            self._hashing = True
            return True

    def _hash_if_next(self, start: int, piece: Piece) -> None:
        """Hash the piece and those that follow it, if it is next in order and no other thread is hashing."""
        with self._lock:
            self._unhashed[start] = start + len(piece)
            if self._hashing or start != self._hashed_bytes:
                return
            self._hashing = True
        self._hash.update(piece)
        self._hash_following(len(piece))

    def _hash_following(self, hashed_bytes: int) -> None:
        """Hash the written pieces that follow the one just hashed, of `hashed_bytes` bytes."""
        while piece := self._next(hashed_bytes):
            self._hash.update(piece)
            hashed_bytes = len(piece)

    def _next(self, hashed_bytes: int) -> Piece:
        """Read back the following piece; empty if it is not written yet, and this thread then stops hashing."""
        with self._lock:
            self._unhashed.pop(self._hashed_bytes)
            self._hashed_bytes += hashed_bytes
            start = self._hashed_bytes
            end = self._unhashed.get(start, start)
            self._hashing = end > start
        return os.pread(self._descriptor, end - start, start) if end > start else b""


def gaps(written: list[Interval], size_bytes: int) -> list[Interval]:
    """Find the parts of [0, size_bytes) outside of sorted, disjoint intervals. Pure."""
    missing, at = [], 0
    for start, end in [*written, (size_bytes, size_bytes)]:
        if at < start:
            missing.append((at, start))
        at = end
    return missing


def partial_sizes(folder: Path) -> dict[str, int]:
    """Map digests of unfinished blobs to their bytes on disk; skips one that another process just finished."""
    sizes = {}
    for path in folder.iterdir() if folder.is_dir() else ():
        if not path.suffix:
            with suppress(FileNotFoundError):
                sizes[path.name] = path.stat().st_blocks * 512
    return sizes


def _open(path: Path, flags: int) -> int:
    return os.open(path, flags | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)


def _lines(journal: Path) -> Iterator[tuple[int, int, str]]:
    """Read the lines of a journal; an incomplete one is skipped."""
    for line in journal.read_text().splitlines() if journal.is_file() else ():
        words = line.split()
        if len(words) == 3 and all(word.isascii() and word.isdigit() for word in words[:2]):
            yield int(words[0]), int(words[1]), words[2]
