"""Reading and writing whole files: hashed while copied, to a unique temporary name, fsynced, renamed, cleaned up.

A file under its final name is whole, also after a crash or a power cut: its bytes are synced before the rename, and the
folder after it. Large files are read once; hashing is not a second pass.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from uuid import uuid4

from model_store.errors import StoreFull, StoreUnwritable, Unreadable

CHUNK_BYTES = 4 * 2**20
SPARE_BYTES = 16 * 2**20
"""What must stay free for manifests, receipts and the file system's own needs."""

Advance = Callable[[int], None]
"""Told how many more bytes have just been read."""

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def ignore(_count_bytes: int) -> None:
    """The Advance of somebody who is not curious."""


def free_bytes(folder: Path) -> int:
    """Free bytes, for this user, on the disk of `folder` or of its nearest parent that exists."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def hash_file(path: Path, advance: Advance = ignore) -> str:
    """The SHA-256 of a file as hex digits; like hashlib.file_digest, but it reports progress."""
    digest = hashlib.sha256()
    for chunk in _chunks(path):
        digest.update(chunk)
        advance(len(chunk))
    return digest.hexdigest()


def copy_hashed(source: Path, target: Path, advance: Advance = ignore) -> str:
    """Copy `source` to the new file `target`, fsynced, in one reading; the SHA-256 of the copied bytes (hex)."""
    digest = hashlib.sha256()
    with target.open("xb", buffering=0) as file:
        for chunk in _chunks(source):
            digest.update(chunk)
            _write_all(file.fileno(), chunk)
            advance(len(chunk))
        os.fsync(file.fileno())
    return digest.hexdigest()


def write_whole(path: Path, data: bytes, temporary: Path, *, durable: bool = True) -> None:
    """Give `path` the content `data` in one step; readers see the old or the new bytes. `temporary` is on its disk."""
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
    """A name in the folder `temporary` that nobody else uses; whatever still has it at the end is removed."""
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
    """Make `folder` and its parents, so that they last; nothing is done where it is there."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        fsync_folder(folder.parent)


def fsync_folder(folder: Path) -> None:
    """Make renames into `folder` last."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def writing(root: Path) -> Iterator[None]:
    """Turns what the operating system says about a failed write below `root` into StoreFull or StoreUnwritable."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise StoreFull(f"The disk of the model store {root} is full: {error.strerror}; free some room.") from error
        raise StoreUnwritable(f"The model store {root} cannot be written to: {error}.") from error


def _chunks(path: Path) -> Iterator[memoryview]:
    """The bytes of a file in pieces that share one buffer: use each before asking for the next."""
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


def write_at(descriptor: int, data: bytes | memoryview, start: int) -> None:
    """Write all of `data` at the place `start` of an open file."""
    rest = memoryview(data)
    while len(rest):
        written = os.pwrite(descriptor, rest, start)
        rest, start = rest[written:], start + written


def _write_all(descriptor: int, data: memoryview) -> None:
    while len(data):
        data = data[os.write(descriptor, data) :]
