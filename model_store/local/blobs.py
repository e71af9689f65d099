"""Blobs: files under their digests. What is under a final name was hashed while it was written.

A blob counts as intact while its receipt is valid, and after it has been hashed again; else it is as good as not there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from model_store import fileio
from model_store.errors import CorruptFile, MissingFile, StoreFull
from model_store.local.layout import Layout
from model_store.local.receipts import SEALED_MTIME_NS, Seal, Stamp, recall, remember, stamp_of

_READ_ONLY = 0o444
_DIGEST = re.compile(r"[0-9a-f]{64}")


def blob_sizes(layout: Layout) -> dict[str, int]:
    """Size in bytes of every blob by its digest, whether intact or not; other names are passed over."""
    if not layout.blobs.is_dir():
        return {}
    with os.scandir(layout.blobs) as found:
        return {item.name: item.stat(follow_symlinks=False).st_size for item in found if is_digest(item.name)}


def is_digest(name: str) -> bool:
    """Whether `name` can be the name of a blob: 64 lower-case hex digits."""
    return _DIGEST.fullmatch(name) is not None


def check_blob(layout: Layout, digest: str, advance: fileio.Advance = fileio.ignore) -> Stamp:
    """The stamp of an intact blob; it is read only where its receipt does not vouch for it.

    Raises MissingFile or CorruptFile.
    """
    path, receipt = layout.blob(digest), layout.blob_receipt(digest)
    stamp = stamp_of(path)
    if stamp is None:
        raise MissingFile(f"The file {path} is not in the store. Publish or pull the model again.")
    if recall(receipt).get(digest) != Seal(stamp, digest):
        found = fileio.hash_file(path, advance)
        if found != digest:
            raise CorruptFile(str(path), wanted=digest, found=found)
        remember(receipt, {digest: Seal(stamp, digest)}, layout.temporary)
    return stamp


def has_blob(layout: Layout, digest: str) -> bool:
    """Whether the blob is there and intact."""
    try:
        check_blob(layout, digest)
    except (MissingFile, CorruptFile):
        return False
    return True


def add_blob(layout: Layout, source: Path, advance: fileio.Advance = fileio.ignore) -> str:
    """Copy `source` into the store; its digest as hex digits. The bytes are read once.

    Raises Unreadable, StoreFull or StoreUnwritable; then nothing has changed.
    """
    with fileio.writing(layout.root), fileio.temporary_name(layout.temporary) as name:
        digest = fileio.copy_hashed(source, name, advance)
        commit_blob(layout, name, digest)
    return digest


def commit_blob(layout: Layout, whole: Path, digest: str) -> None:
    """Give the fsynced file `whole`, on the store's disk and known to have `digest`, its final name and a receipt."""
    stamp = seal(whole)
    fileio.make_folder(layout.blobs)
    whole.replace(layout.blob(digest))
    fileio.fsync_folder(layout.blobs)
    remember(layout.blob_receipt(digest), {digest: Seal(stamp, digest)}, layout.temporary)


def seal(path: Path) -> Stamp:
    """Make a verified file read-only, with the modification time of all sealed files (see receipts); its stamp."""
    os.chmod(path, _READ_ONLY)
    os.utime(path, ns=(SEALED_MTIME_NS, SEALED_MTIME_NS))
    return Stamp(path.stat().st_size, SEALED_MTIME_NS)


def require_space(layout: Layout, needed_bytes: int, free_bytes: Callable[[Path], int]) -> None:
    """Raises StoreFull, with the figures, if `needed_bytes` and a little more are not free."""
    free = free_bytes(layout.root)
    if needed_bytes and free < needed_bytes + fileio.SPARE_BYTES:
        raise StoreFull(
            f"The model store {layout.root} needs {needed_bytes + fileio.SPARE_BYTES:,} bytes and {free:,} are free. "
            "Nothing was written."
        )
