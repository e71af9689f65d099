"""Blobs: the local store's files, each named by its SHA-256 and hashed while it is written.

A blob is intact if its receipt is valid, or if it has the right digest when hashed again. A blob that is not intact is
treated as missing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from model_store import fileio
from model_store.errors import CorruptFile, MissingFile, StoreFull
from model_store.local.layout import Layout
from model_store.local.receipts import SEALED_MTIME_NS, Stamp, VerifiedFile, read_receipt, stamp_of, write_receipt
from model_store.progress import OnBytes, ignore_bytes

_READ_ONLY = 0o444
_DIGEST = re.compile(r"[0-9a-f]{64}")


def blob_sizes(layout: Layout) -> dict[str, int]:
    """Size in bytes of every blob by its digest, intact or not; files with other names are skipped."""
    if not layout.blobs.is_dir():
        return {}
    with os.scandir(layout.blobs) as found:
        return {item.name: item.stat(follow_symlinks=False).st_size for item in found if is_digest(item.name)}


def is_digest(name: str) -> bool:
    """True if `name` is 64 lower-case hex digits, as the names of blobs are."""
    return _DIGEST.fullmatch(name) is not None


def check_blob(layout: Layout, digest: str, on_bytes: OnBytes = ignore_bytes) -> Stamp:
    """The stamp of an intact blob, which is hashed only if its receipt is missing or invalid.

    Raises MissingFile or CorruptFile.
    """
    path, receipt = layout.blob(digest), layout.blob_receipt(digest)
    stamp = stamp_of(path)
    if stamp is None:
        raise MissingFile(f"The file {path} is not in the store. Publish or pull the model again.")
    if read_receipt(receipt).get(digest) != VerifiedFile(stamp, digest):
        found = fileio.hash_file(path, on_bytes)
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
    """Copy `source` into the store in one pass; its digest as hex digits.

    Raises Unreadable, StoreFull or StoreUnwritable; then nothing has changed.
    """
    with fileio.writing(layout.root), fileio.temporary_name(layout.temporary) as name:
        digest = fileio.copy_hashed(source, name, on_bytes)
        commit_blob(layout, name, digest)
    return digest


def commit_blob(layout: Layout, whole: Path, digest: str) -> None:
    """Rename the complete, fsynced file `whole`, whose digest is verified, to its final name; write its receipt."""
    stamp = seal(whole)
    fileio.make_folder(layout.blobs)
    whole.replace(layout.blob(digest))
    fileio.fsync_folder(layout.blobs)
    write_receipt(layout.blob_receipt(digest), {digest: VerifiedFile(stamp, digest)}, layout.temporary)


def seal(path: Path) -> Stamp:
    """Make a verified file read-only and give it the fixed modification time of blobs (see receipts); its stamp."""
    os.chmod(path, _READ_ONLY)
    os.utime(path, ns=(SEALED_MTIME_NS, SEALED_MTIME_NS))
    return Stamp(path.stat().st_size, SEALED_MTIME_NS)


def require_space(layout: Layout, needed_bytes: int, free_bytes: Callable[[Path], int]) -> None:
    """Raises StoreFull, with the figures, unless `needed_bytes` and `SPARE_BYTES` are free; 0 bytes always fit."""
    free = free_bytes(layout.root)
    if needed_bytes and free < needed_bytes + fileio.SPARE_BYTES:
        raise StoreFull(
            f"The model store {layout.root} needs {needed_bytes + fileio.SPARE_BYTES:,} bytes and {free:,} are free. "
            "Nothing was written."
        )
