"""Store of answers under their clients' keys: files in the runtime folder, which all workers of a service share.

The rules:
- Whoever holds the lock of a key's file answers the request. The kernel releases the lock of a worker that dies, so the
  next try, in whichever worker, begins anew.
- What is in a file counts only when it is whole. A file that was removed while somebody waited for it is made anew.
- A client's answers take a bounded number of bytes, and of files; the oldest are forgotten first. A disk that is nearly
  full keeps no answers: they are a favour, metrics and sockets are not.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

MOST_FILES = 1_000
"""Of a client."""
SPARE_BYTES = 16 * 1024 * 1024
"""Left free on the disk for all else that is in the runtime folder."""
_HEADER_BYTES = 4_096


class KeyReused(Exception):
    """The key belongs to another request of this client."""


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An answer as it was sent. `headers`: of its own, beside those of every answer."""

    status: int
    media_type: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


class _Header(msgspec.Struct, frozen=True):
    """The first line of a file. `status` is 0 as long as there is no answer."""

    fingerprint: str
    status: int = 0
    media_type: str = ""
    body_bytes: int = 0
    headers: tuple[tuple[str, str], ...] = ()


class Claim:
    """The right to answer the request of one key; to be kept or released."""

    def __init__(self, path: Path, descriptor: int, fingerprint: str) -> None:
        self._path = path
        self._descriptor = descriptor
        self._fingerprint = fingerprint

    def keep(self, answer: KeptAnswer) -> None:
        """Write the answer for the next tries, and release. Raises OSError where there is no room; nothing is kept."""
        header = _Header(self._fingerprint, answer.status, answer.media_type, len(answer.body), answer.headers)
        try:
            _write(self._descriptor, header, answer.body)
        except OSError:
            self.release()
            raise
        self._close()

    def release(self) -> None:
        """Give up the key, without an answer; the second call does nothing."""
        if self._descriptor >= 0:
            with suppress(OSError):
                self._path.unlink()
            self._close()

    def _close(self) -> None:
        os.close(self._descriptor)
        self._descriptor = -1

    def __del__(self) -> None:
        self.release()


class AnswerStore:
    """The answers of all clients of one service.

    Args:
        keep_seconds: how long an answer is kept.
        client_bytes: how much the answers of one client may take.
    """

    def __init__(self, folder: Path, keep_seconds: float, client_bytes: int) -> None:
        self._folder = folder
        self._keep_seconds = keep_seconds
        self.client_bytes = client_bytes

    def claim(self, client: str, key: str, fingerprint: str, now: float) -> Claim | KeptAnswer | None:
        """The right to answer a request, or its answer; None while another one that is the same is being answered.

        Raises:
            KeyReused: a request that is another one has this key.
            OSError: the folder cannot be written to.
        """
        path = self._place(client) / _name(key)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            if not _lock(descriptor):
                header, _ = _read(descriptor)
                os.close(descriptor)
                _refuse_another(header, fingerprint)
                return None
            if _is_at(descriptor, path):
                return self._decide(path, descriptor, fingerprint, now)
            os.close(descriptor)

    def make_room(self, client: str, needed_bytes: int, now: float) -> bool:
        """Forget a client's expired answers, then its oldest, so that one more fits; false where it does not."""
        files = sorted(_files(self._place(client)), key=lambda each: each[1].st_mtime)
        used = sum(found.st_size for _, found in files)
        for number, (path, found) in enumerate(files):
            expired = now - found.st_mtime > self._keep_seconds
            too_many = len(files) - number >= MOST_FILES or used + needed_bytes > self.client_bytes
            if (expired or too_many) and _forget(path):
                used -= found.st_size
        disk = os.statvfs(self._folder)
        return used + needed_bytes <= self.client_bytes and disk.f_bavail * disk.f_frsize > needed_bytes + SPARE_BYTES

    def sweep(self, now: float) -> None:
        """Forget the expired answers of all clients."""
        for client in self._folder.glob("*"):
            for path, found in _files(client):
                if now - found.st_mtime > self._keep_seconds:
                    _forget(path)

    def _place(self, client: str) -> Path:
        return self._folder / _name(client)

    def _decide(self, path: Path, descriptor: int, fingerprint: str, now: float) -> Claim | KeptAnswer:
        """What the holder of a file's lock does: answer by what is in it, or be the one who answers."""
        header, body = _read(descriptor)
        if header.status and now - os.fstat(descriptor).st_mtime <= self._keep_seconds:
            os.close(descriptor)
            _refuse_another(header, fingerprint)
            return KeptAnswer(header.status, header.media_type, body, header.headers)
        claim = Claim(path, descriptor, fingerprint)
        try:
            _write(descriptor, _Header(fingerprint), b"")
        except OSError:
            claim.release()
            raise
        return claim


def _name(of: str) -> str:
    return hashlib.sha256(of.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    """True unless the file was removed, or replaced, before it was locked."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), path.stat())
    return False


def _refuse_another(header: _Header, fingerprint: str) -> None:
    if header.fingerprint not in ("", fingerprint):
        raise KeyReused


def _read(descriptor: int) -> tuple[_Header, bytes]:
    """A file's header and body; an empty header for what is not whole."""
    line, separator, start = os.pread(descriptor, _HEADER_BYTES, 0).partition(b"\n")
    try:
        header = msgspec.json.decode(line, type=_Header)
    except msgspec.MsgspecError:
        return _Header(""), b""
    rest = max(header.body_bytes - len(start), 0)
    body = start + os.pread(descriptor, rest, len(line) + len(separator) + len(start))
    return (header, body) if len(body) == header.body_bytes else (_Header(header.fingerprint), b"")


def _write(descriptor: int, header: _Header, body: bytes) -> None:
    content = msgspec.json.encode(header) + b"\n" + body
    os.ftruncate(descriptor, 0)
    written = 0
    while written < len(content):
        written += os.pwrite(descriptor, memoryview(content)[written:], written)


def _files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    with suppress(FileNotFoundError, NotADirectoryError):
        for path in folder.iterdir():
            with suppress(FileNotFoundError):
                yield path, path.stat()


def _forget(path: Path) -> bool:
    """Remove a file, unless its request is being answered."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if found := _lock(descriptor):
            path.unlink(missing_ok=True)
        return found
    finally:
        os.close(descriptor)
