"""A remote store in a folder: for tests, for laptops, for network disks. ETags are modification times.

A file appears whole under its key: it is written under another name, fsynced and then renamed, or linked where it must
not replace anything.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from model_store import fileio
from model_store.errors import RemoteChanged, RemoteRefused, RemoteUnavailable
from model_store.remote.base import Opened, Stat

_TEMPORARY = ".temporary"
_PIECE_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class FolderRemote:
    """Implements `Remote` below the folder `root`, which is made by the first write."""

    root: Path

    @property
    def url(self) -> str:
        return self.root.as_uri()

    def stat(self, key: str) -> Stat | None:
        with _told(self.url):
            path = self.root / key
            return _stat_if_there(key, path) if path.is_file() else None

    def read(self, key: str) -> bytes | None:
        with _told(self.url):
            try:
                return (self.root / key).read_bytes()
            except FileNotFoundError:
                return None

    @contextmanager
    def open_range(self, key: str, start: int, end: int, etag: str | None) -> Iterator[Opened]:
        now = self.stat(key)
        if now is None or etag not in (None, now.etag) or now.size_bytes < end:
            raise RemoteChanged(f"The object {self.url}/{key} was replaced or removed while it was being read.")
        with _told(self.url), (self.root / key).open("rb") as file:
            file.seek(start)
            yield Opened(now.etag, now.size_bytes, _pieces(file.fileno(), end - start))

    def create(self, key: str, data: bytes) -> bool:
        with _told(self.url), fileio.temporary_name(self.root / _TEMPORARY) as name:
            _write(name, data)
            fileio.make_folder((self.root / key).parent)
            try:
                os.link(name, self.root / key)
            except FileExistsError:
                return False
            fileio.fsync_folder((self.root / key).parent)
            return True

    def upload(self, key: str, source: Path, advance: fileio.Advance) -> None:
        with _told(self.url), fileio.temporary_name(self.root / _TEMPORARY) as name:
            fileio.copy_hashed(source, name, advance)
            fileio.make_folder((self.root / key).parent)
            name.replace(self.root / key)
            fileio.fsync_folder((self.root / key).parent)

    def stats(self, prefix: str) -> Iterator[Stat]:
        self._require_root()
        with _told(self.url):
            found = sorted(path for path in (self.root / prefix).rglob("*") if path.is_file())
            stats = [_stat_if_there(path.relative_to(self.root).as_posix(), path) for path in found]
        yield from filter(None, stats)

    def delete(self, key: str) -> None:
        with _told(self.url):
            (self.root / key).unlink(missing_ok=True)

    def _require_root(self) -> None:
        if not self.root.is_dir():
            raise RemoteRefused(f"The remote store {self.url} is not there.")


def _stat(key: str, path: Path) -> Stat:
    status = path.stat()
    return Stat(key, status.st_size, f"{status.st_mtime_ns}-{status.st_size}", status.st_mtime)


def _stat_if_there(key: str, path: Path) -> Stat | None:
    """None for what others removed since it was listed."""
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
def _told(url: str) -> Iterator[None]:
    """What the operating system says, as the remote's own errors."""
    try:
        yield
    except (PermissionError, FileNotFoundError, NotADirectoryError) as error:
        raise RemoteRefused(f"The remote store {url} cannot be used: {error}.") from error
    except OSError as error:
        raise RemoteUnavailable(f"The remote store {url} failed: {error}.") from error
