"""A remote store in a folder, for network disks, laptops and tests. An ETag is a modification time and a size.

A file appears under its key when it is complete: it is written under a temporary name, fsynced and renamed. `create`
links it instead: link(2) fails atomically if the name exists, also between machines that share a network disk.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from model_store import fileio
from model_store.errors import RemoteChanged, RemoteRefused, RemoteUnavailable
from model_store.fileio import OnBytes
from model_store.remote.base import ObjectRange, ObjectStat

_TEMPORARY = ".temporary"
_PIECE_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class FolderRemote:
    """Implements `Remote` below the folder `root`, which the first write makes."""

    root: Path

    @property
    def url(self) -> str:
        return self.root.as_uri()

    def stat(self, key: str) -> ObjectStat | None:
        with _store_errors(self.url):
            path = self.root / key
            return _stat_if_there(key, path) if path.is_file() else None

    def read(self, key: str) -> bytes | None:
        with _store_errors(self.url):
            try:
                return (self.root / key).read_bytes()
            except FileNotFoundError:
                return None

    @contextmanager
    def open_range(self, key: str, start: int, end: int, etag: str | None) -> Iterator[ObjectRange]:
        now = self.stat(key)
        if now is None or etag not in (None, now.etag) or now.size_bytes < end:
            raise RemoteChanged(f"The object {self.url}/{key} was replaced or removed while it was being read.")
        with _store_errors(self.url), (self.root / key).open("rb") as file:
            file.seek(start)
            yield ObjectRange(now.etag, now.size_bytes, _pieces(file.fileno(), end - start))

    def create(self, key: str, data: bytes) -> bool:
        with _store_errors(self.url), fileio.temporary_name(self.root / _TEMPORARY) as name:
            _write(name, data)
            fileio.make_folder((self.root / key).parent)
            try:
                os.link(name, self.root / key)
            except FileExistsError:
                return False
            fileio.fsync_folder((self.root / key).parent)
            return True

    def upload(self, key: str, source: Path, on_bytes: OnBytes) -> None:
        with _store_errors(self.url), fileio.temporary_name(self.root / _TEMPORARY) as name:
            fileio.copy_hashed(source, name, on_bytes)
            fileio.make_folder((self.root / key).parent)
            name.replace(self.root / key)
            fileio.fsync_folder((self.root / key).parent)

    def stats(self, prefix: str) -> Iterator[ObjectStat]:
        self._require_root()
        with _store_errors(self.url):
            found = sorted(path for path in (self.root / prefix).rglob("*") if path.is_file())
            stats = [_stat_if_there(path.relative_to(self.root).as_posix(), path) for path in found]
        yield from filter(None, stats)

    def delete(self, key: str) -> None:
        with _store_errors(self.url):
            (self.root / key).unlink(missing_ok=True)

    def _require_root(self) -> None:
        if not self.root.is_dir():
            raise RemoteRefused(f"The remote store {self.url} is not there.")


def _stat(key: str, path: Path) -> ObjectStat:
    status = path.stat()
    return ObjectStat(key, status.st_size, f"{status.st_mtime_ns}-{status.st_size}")


def _stat_if_there(key: str, path: Path) -> ObjectStat | None:
    """None if the file was removed after it was listed."""
    try:
        return _stat(key, path)
    except FileNotFoundError:
        return None


def _write(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _pieces(descriptor: int, count_bytes: int) -> Iterator[bytes]:
    while count_bytes and (piece := os.read(descriptor, min(_PIECE_BYTES, count_bytes))):
        count_bytes -= len(piece)
        yield piece


@contextmanager
def _store_errors(url: str) -> Iterator[None]:
    """Raises RemoteRefused or RemoteUnavailable in place of an OSError."""
    try:
        yield
    except (PermissionError, FileNotFoundError, NotADirectoryError) as error:
        raise RemoteRefused(f"The remote store {url} cannot be used: {error}.") from error
    except OSError as error:
        raise RemoteUnavailable(f"The remote store {url} failed: {error}.") from error
