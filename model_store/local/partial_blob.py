"""A blob on its way: pieces are written at any place, hashed in order, and noted in a journal once they are written.

The journal has a line for each piece. After a crash, pieces whose bytes on the disk are still what their line says
count as arrived; whatever the disk lost or mixed up is fetched again.

    start end sha256    of a piece that came in its turn: the digest of all bytes up to `end`, which costs nothing, as
                        they are hashed anyway
    start end crc32     of a piece that came early: its own checksum; it is read back and hashed when its turn comes

The SHA-256 of the whole decides in the end, whatever the journal says.
"""

from __future__ import annotations

import hashlib
import os
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path

from model_store import fileio
from model_store.remote.base import Piece

Interval = tuple[int, int]
"""[start, end) in bytes."""
_DIGEST_CHARACTERS = 64


class Partial:
    """The file `<folder>/<digest>` and its journal, which nobody else may touch meanwhile. Any thread may write."""

    def __init__(self, folder: Path, digest: str, size_bytes: int) -> None:
        fileio.make_folder(folder)
        self.path, self.digest, self.size_bytes = folder / digest, digest, size_bytes
        self._journal_path = folder / f"{digest}.journal"
        self._descriptor = _open(self.path, os.O_RDWR)
        self._lock = threading.Lock()
        self._hash = hashlib.sha256()
        self._hashed_bytes = 0
        self._hashing = False
        self._early: dict[int, int] = {}
        recovered = list(self._recover())
        os.ftruncate(self._descriptor, max((end for _, end in recovered), default=0))
        self._journal = _open(self._journal_path, os.O_WRONLY | os.O_APPEND)
        self.missing = gaps(recovered, size_bytes)
        """What had not arrived when the file was opened."""

    @property
    def complete(self) -> bool:
        """Whether every byte has arrived and was hashed."""
        return self._hashed_bytes == self.size_bytes

    @property
    def found_digest(self) -> str:
        """The SHA-256 of what was hashed so far (hex digits)."""
        return self._hash.hexdigest()

    def write(self, start: int, piece: Piece) -> None:
        """Put a piece in its place. Raises OSError."""
        fileio.write_at(self._descriptor, piece, start)
        if self._claim(start, len(piece)):
            self._hash.update(piece)
            self._note(start, len(piece), self._hash.copy().hexdigest())
            self._hash_on(len(piece))
        else:
            self._note(start, len(piece), str(zlib.crc32(piece)))
            self._arrived(start, piece)

    def sync(self) -> None:
        """Make the bytes last."""
        os.fsync(self._descriptor)

    def close(self) -> None:
        """Nothing may be written any more; what is there stays."""
        for descriptor in (self._descriptor, self._journal):
            if descriptor >= 0:
                os.close(descriptor)
        self._descriptor = self._journal = -1

    def forget(self) -> None:
        """Remove the journal, and the file if it still has its name."""
        fileio.remove(self._journal_path)
        fileio.remove(self.path)

    def _note(self, start: int, size_bytes: int, check: str) -> None:
        os.write(self._journal, f"{start} {start + size_bytes} {check}\n".encode())

    def _recover(self) -> Iterator[Interval]:
        """The pieces of the journal that are still on the disk, in order, hashed as far as they follow one another."""
        at = 0
        for start, end, check in sorted(_lines(self._journal_path)):
            piece = os.pread(self._descriptor, end - start, start) if at <= start < end <= self.size_bytes else b""
            if piece and len(piece) == end - start and self._recall(start, piece, check):
                yield start, end
                at = end

    def _recall(self, start: int, piece: bytes, check: str) -> bool:
        """Take a piece of an earlier process, if it is what its line says of it."""
        if len(check) != _DIGEST_CHARACTERS:
            sound = str(zlib.crc32(piece)) == check
            if sound:
                self._arrived(start, piece)
            return sound
        prefix = self._hash.copy()
        prefix.update(piece)
        if prefix.hexdigest() != check or not self._claim(start, len(piece)):
            return False
        self._hash = prefix
        self._hash_on(len(piece))
        return True

    def _claim(self, start: int, size_bytes: int) -> bool:
        """Whether it is this piece's turn, and nobody else is hashing; then the caller hashes."""
        with self._lock:
            if self._hashing or start != self._hashed_bytes:
                return False
            self._early[start] = start + size_bytes
            self._hashing = True
            return True

    def _arrived(self, start: int, piece: Piece) -> None:
        """Hash the piece and all that were waiting for it, unless its turn has not come, or somebody else is at it."""
        with self._lock:
            self._early[start] = start + len(piece)
            if self._hashing or start != self._hashed_bytes:
                return
            self._hashing = True
        self._hash.update(piece)
        self._hash_on(len(piece))

    def _hash_on(self, hashed_bytes: int) -> None:
        """After a piece of this size was hashed: all that were waiting for it."""
        while piece := self._next(hashed_bytes):
            self._hash.update(piece)
            hashed_bytes = len(piece)

    def _next(self, hashed_bytes: int) -> Piece:
        """The piece that follows; empty, and the hashing is given up, if it has not arrived."""
        with self._lock:
            self._early.pop(self._hashed_bytes)
            self._hashed_bytes += hashed_bytes
            start = self._hashed_bytes
            end = self._early.get(start, start)
            self._hashing = end > start
        return os.pread(self._descriptor, end - start, start) if end > start else b""


def gaps(arrived: list[Interval], size_bytes: int) -> list[Interval]:
    """What is missing of [0, size_bytes), given sorted intervals that do not overlap. Pure."""
    missing, at = [], 0
    for start, end in [*arrived, (size_bytes, size_bytes)]:
        if at < start:
            missing.append((at, start))
        at = end
    return missing


def partial_sizes(folder: Path) -> dict[str, int]:
    """How many bytes each unfinished blob takes on the disk, by digest."""
    found = folder.iterdir() if folder.is_dir() else ()
    return {path.name: path.stat().st_blocks * 512 for path in found if not path.suffix}


def _open(path: Path, flags: int) -> int:
    return os.open(path, flags | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)


def _lines(journal: Path) -> Iterator[tuple[int, int, str]]:
    """The lines of a journal; a torn one is passed over."""
    for line in journal.read_text().splitlines() if journal.is_file() else ():
        words = line.split()
        if len(words) == 3 and all(word.isascii() and word.isdigit() for word in words[:2]):
            yield int(words[0]), int(words[1]), words[2]
