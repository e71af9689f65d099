"""Blobs of the local store: writes files under their SHA-256, hashed on the way, and keeps receipts of them.

A blob is intact if its receipt is valid, or if it has the right digest when hashed again. Any other blob is
treated as missing.

A receipt records which files were hashed, so that a start need not hash gigabytes again. An entry holds a file's size,
modification time and digest, and is valid while size and time are unchanged. All blobs have one fixed modification
time: copies of a blob then match the receipt wherever they were made, image layers and archives keep it (it has no
fractions of a second), and no edit produces it. An edit that restores the old time, or a disk error, is not noticed;
`verify` hashes everything again. A receipt that cannot be read or written is not an error: the files are hashed again.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from model_store import fileio
from model_store.errors import CorruptFile, MissingFile, StoreFull
from model_store.fileio import OnBytes, ignore_bytes
from model_store.local.layout import Layout

SEALED_MTIME_NS = 10**18
"""The modification time of every blob: 2001-09-09 01:46:40 UTC."""


class Stamp(msgspec.Struct, frozen=True):
    """A file's size and modification time, which change with the file."""

    size_bytes: int
    mtime_ns: int


class VerifiedFile(msgspec.Struct, frozen=True):
    """A file's digest `sha256` (hex digits) at the time of this stamp."""

    stamp: Stamp
    sha256: str


class _Receipt(msgspec.Struct, frozen=True):
    """Verified files by path (a blob's by its digest), and the time, in seconds since 1970."""

    files: dict[str, VerifiedFile] = msgspec.field(name="seals")
    verified_at_seconds: float


def stamp_of(path: Path) -> Stamp | None:
    """Read the stamp of a regular file; None for anything else, links included."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return Stamp(status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def read_receipt(path: Path) -> dict[str, VerifiedFile]:
    """Read the entries of a receipt; none if it is missing or unreadable."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Receipt).files
    except (OSError, ValueError):
        return {}


def write_receipt(path: Path, files: Mapping[str, VerifiedFile], temporary: Path) -> None:
    """Write a receipt, if the store can be written to."""
    receipt = _Receipt(dict(files), time.time())
    with suppress(OSError):
        fileio.write_whole(path, msgspec.json.encode(receipt), temporary, durable=False)


_READ_ONLY = 0o444
_DIGEST = re.compile(r"[0-9a-f]{64}")


def blob_sizes(layout: Layout) -> dict[str, int]:
    """Map the digest of every blob, intact or not, to its bytes; files with other names are skipped."""
    if not layout.blobs.is_dir():
        return {}
    with os.scandir(layout.blobs) as found:
        return {item.name: item.stat(follow_symlinks=False).st_size for item in found if is_digest(item.name)}


def is_digest(name: str) -> bool:
    """True if `name` is 64 lower-case hex digits, as the names of blobs are."""
    return _DIGEST.fullmatch(name) is not None


def check_blob(layout: Layout, digest: str) -> Stamp:
    """Check a blob and return its stamp; it is hashed only if its receipt is missing or invalid.

    Raises MissingFile or CorruptFile.
    """
    path, receipt = layout.blob(digest), layout.blob_receipt(digest)
    stamp = stamp_of(path)
    if stamp is None:
        raise MissingFile(f"The file {path} is not in the store. Publish or pull the model again.")
    if read_receipt(receipt).get(digest) != VerifiedFile(stamp, digest):
        found = fileio.hash_file(path)
        if found != digest:
            raise CorruptFile(str(path), wanted=digest, found=found)
        write_receipt(receipt, {digest: VerifiedFile(stamp, digest)}, layout.temporary)
    return stamp


def has_blob(layout: Layout, digest: str) -> bool:
    """True if the blob is present and intact."""
    try:
        check_blob(layout, digest)
    except (MissingFile, CorruptFile):
        return False
    return True


def add_blob(layout: Layout, source: Path, on_bytes: OnBytes = ignore_bytes) -> str:
    """Copy `source` into the store in one pass; returns its digest as hex digits.

    Raises Unreadable, StoreFull or StoreUnwritable; then nothing has changed.
    """
    with fileio.writing(layout.root), fileio.temporary_name(layout.temporary) as name:
        digest = fileio.copy_hashed(source, name, on_bytes)
        commit_blob(layout, name, digest)
    return digest


def commit_blob(layout: Layout, whole: Path, digest: str) -> None:
    """Rename the complete, fsynced and verified file `whole` to its final name; write its receipt."""
    stamp = seal(whole)
    fileio.make_folder(layout.blobs)
    whole.replace(layout.blob(digest))
    fileio.fsync_folder(layout.blobs)
    write_receipt(layout.blob_receipt(digest), {digest: VerifiedFile(stamp, digest)}, layout.temporary)


def seal(path: Path) -> Stamp:
    """Make a verified file read-only, with the fixed modification time of blobs; returns its stamp."""
    os.chmod(path, _READ_ONLY)
    os.utime(path, ns=(SEALED_MTIME_NS, SEALED_MTIME_NS))
    return Stamp(path.stat().st_size, SEALED_MTIME_NS)


def require_space(layout: Layout, needed_bytes: int, free_bytes: Callable[[Path], int]) -> None:
    """Raise StoreFull unless `needed_bytes` and `SPARE_BYTES` are free; 0 bytes always fit."""
    free = free_bytes(layout.root)
    if needed_bytes and free < needed_bytes + fileio.SPARE_BYTES:
        raise StoreFull(
            f"The model store {layout.root} needs {needed_bytes + fileio.SPARE_BYTES:,} bytes and {free:,} are free. "
            "Nothing was written."
        )
