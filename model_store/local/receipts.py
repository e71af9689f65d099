"""What was verified, and how to see that it has not changed since, so that a start need not hash gigabytes again.

A seal holds a file's size, modification time and digest. It is valid as long as size and time are the same. All blobs
get one and the same modification time: copies of a blob then agree whoever made them, an image layer or an archive
keeps it (no fractions of a second), and an edit never has it.
What a seal cannot see is an edit that puts the old time back, or a disk that rots: that is what `verify` is for.

A receipt that cannot be read or written is no failure: the files are hashed once more.
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
    """What a file's status says of it without reading it."""

    size_bytes: int
    mtime_ns: int


class Seal(msgspec.Struct, frozen=True):
    """`sha256` (hex digits) was the digest of the file's bytes when it had this stamp."""

    stamp: Stamp
    sha256: str


class Receipt(msgspec.Struct, frozen=True):
    """Seals by path (for a blob, one under its digest), and when they were made, in seconds since 1970."""

    seals: dict[str, Seal]
    verified_at_seconds: float


def stamp_of(path: Path) -> Stamp | None:
    """The stamp of a regular file; None if there is none (links are not followed)."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return Stamp(status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def recall(path: Path) -> dict[str, Seal]:
    """The seals of the receipt at `path`; none if there is no readable receipt."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Receipt).seals
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return {}


def remember(path: Path, seals: Mapping[str, Seal], temporary: Path) -> None:
    """Write a receipt, if the store can be written to."""
    receipt = Receipt(dict(seals), time.time())
    with suppress(OSError):
        fileio.write_whole(path, msgspec.json.encode(receipt), temporary, durable=False)
