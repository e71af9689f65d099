"""Durable file I/O: writes to a unique temporary name, fsyncs, renames; hashes while copying; counts progress.

A file under its final name is whole, also after a crash or a power cut: its bytes are synced before the rename, and the
folder after it. Large files are read once; hashing is not a second pass.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import TypeAlias
from uuid import uuid4

from model_store.errors import StoreFull, StoreUnwritable, Unreadable

OnBytes = Callable[[int], None]
"""Function of the number of bytes just read or written; negative for bytes to be fetched again."""

Progress = Callable[[int, int], None]
"""Function of (bytes done, total bytes). When work is repeated, bytes done may fall and the total may rise."""


def ignore_bytes(_count_bytes: int) -> None:
    """Ignore bytes (an `OnBytes`)."""


def no_progress(_done_bytes: int, _total_bytes: int) -> None:
    """Ignore progress (a `Progress`)."""


class ProgressCounter:
    """Adds up the bytes of one piece of work, and reports the sum after each addition. Thread-safe."""

    def __init__(self, report: Progress, total_bytes: int) -> None:
        self.total_bytes = total_bytes
        self._report = report
        self._done_bytes = 0
        self._lock = threading.Lock()

    def add(self, count_bytes: int) -> None:
        with self._lock:
            self._done_bytes += count_bytes
            self._report(self._done_bytes, self.total_bytes)


CHUNK_BYTES = 4 * 2**20
SPARE_BYTES = 16 * 2**20
"""Bytes of disk left free for manifests, receipts and the file system itself."""

Piece: TypeAlias = bytes | memoryview
"""A part of a file's bytes."""

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def free_bytes(folder: Path) -> int:
    """Read this user's free bytes on the disk of `folder` or of its nearest existing parent."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def hash_file(path: Path, on_bytes: OnBytes = ignore_bytes) -> str:
    """Compute the SHA-256 of a file as hex digits, with progress. Raises Unreadable."""
    digest = hashlib.sha256()
    for chunk in _chunks(path):
        digest.update(chunk)
        on_bytes(len(chunk))
    return digest.hexdigest()


def copy_hashed(source: Path, target: Path, on_bytes: OnBytes = ignore_bytes) -> str:
    """Copy `source` to the new file `target` in one pass and fsync it; returns the SHA-256 of the bytes (hex)."""
    digest = hashlib.sha256()
    with target.open("xb", buffering=0) as file:
        for chunk in _chunks(source):
            digest.update(chunk)
            _write_all(file.fileno(), chunk)
            on_bytes(len(chunk))
        os.fsync(file.fileno())
    return digest.hexdigest()


def write_whole(path: Path, data: bytes, temporary: Path, *, durable: bool = True) -> None:
    """Replace the content of `path` atomically; the folder `temporary` must be on the same file system."""
    with temporary_name(temporary) as name:
        with name.open("xb", buffering=0) as file:
            _write_all(file.fileno(), memoryview(data))
            if durable:
                os.fsync(file.fileno())
        make_folder(path.parent)
        name.replace(path)
    if durable:
        fsync_folder(path.parent)


@contextmanager
def temporary_name(temporary: Path) -> Iterator[Path]:
    """Reserve a unique path in the folder `temporary`; a file or folder left there at the end is removed."""
    make_folder(temporary)
    path = temporary / f"{os.getpid()}-{uuid4().hex}"
    try:
        yield path
    finally:
        remove(path)


def remove(path: Path) -> None:
    """Remove a file or a whole folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def make_folder(folder: Path) -> None:
    """Make `folder` and its parents durably, if they are missing."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        fsync_folder(folder.parent)


def fsync_folder(folder: Path) -> None:
    """Make renames into `folder` durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def writing(root: Path) -> Iterator[None]:
    """Raise StoreFull or StoreUnwritable in place of an OSError from writing below `root`."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise StoreFull(f"The disk of the model store {root} is full: {error.strerror}; free some room.") from error
        raise StoreUnwritable(f"The model store {root} cannot be written to: {error}.") from error


def _chunks(path: Path) -> Iterator[memoryview]:
    """Read a file in chunks that share one buffer: each is valid until the next is read."""
    buffer = memoryview(bytearray(CHUNK_BYTES))
    with _open(path) as file:
        while count := _read_into(file, buffer, path):
            yield buffer[:count]


def _open(path: Path) -> FileIO:
    try:
        return FileIO(os.open(path, os.O_RDONLY | os.O_NOFOLLOW))
    except OSError as error:
        raise Unreadable(f"The file {path} cannot be read: {error.strerror}.") from error


def _read_into(file: FileIO, buffer: memoryview, path: Path) -> int:
    try:
        return file.readinto(buffer) or 0
    except OSError as error:
        raise Unreadable(f"The file {path} cannot be read to its end: {error.strerror}.") from error


def write_at(descriptor: int, data: Piece, start: int) -> None:
    """Write all of `data` at the offset `start` of an open file."""
    rest = memoryview(data)
    while len(rest):
        written = os.pwrite(descriptor, rest, start)
        rest, start = rest[written:], start + written


def _write_all(descriptor: int, data: memoryview) -> None:
    while len(data):
        data = data[os.write(descriptor, data) :]
