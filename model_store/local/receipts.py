"""Verification receipts: record which files were hashed, so that a start need not hash gigabytes again.

An entry holds a file's size, modification time and digest, and is valid while size and time are unchanged. All blobs
have one fixed modification time: copies of a blob then match the receipt wherever they were made, image layers and
archives preserve it (it has no fractions of a second), and no edit produces it. An edit that restores the old time, or
a disk error, is not noticed; `verify` hashes everything again.

A receipt that cannot be read or written is not an error: the files are hashed once more.
"""

from __future__ import annotations

import stat
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from model_store import fileio

SEALED_MTIME_NS = 10**18
"""The modification time of every blob: 2001-09-09 01:46:40 UTC."""


class Stamp(msgspec.Struct, frozen=True):
    """A file's size and modification time: they change when the file does."""

    size_bytes: int
    mtime_ns: int


class VerifiedFile(msgspec.Struct, frozen=True):
    """`sha256` (hex digits) was the digest of the file's bytes when it had this stamp."""

    stamp: Stamp
    sha256: str


class _Receipt(msgspec.Struct, frozen=True):
    """Verified files by path (for a blob, one under its digest), and the time, in seconds since 1970."""

    files: dict[str, VerifiedFile] = msgspec.field(name="seals")
    verified_at_seconds: float


def stamp_of(path: Path) -> Stamp | None:
    """The stamp of a regular file; None for anything else, links included."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return Stamp(status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def read_receipt(path: Path) -> dict[str, VerifiedFile]:
    """The entries of the receipt at `path`; none if it is missing or unreadable."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Receipt).files
    except (OSError, ValueError):
        return {}


def write_receipt(path: Path, files: Mapping[str, VerifiedFile], temporary: Path) -> None:
    """Write a receipt, if the store can be written to."""
    receipt = _Receipt(dict(files), time.time())
    with suppress(OSError):
        fileio.write_whole(path, msgspec.json.encode(receipt), temporary, durable=False)
