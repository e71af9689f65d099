"""Snapshots: builds a revision's folder for loading, of hard links to blobs, or of copies if links are refused.

A folder is built under a temporary name and renamed when it is complete. Links and copies have their blob's size and
modification time, so the blob's receipt covers them too.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from model_store import fileio
from model_store.errors import CorruptFile
from model_store.local import locks
from model_store.local.blobs import Stamp, check_blob, seal, stamp_of
from model_store.local.layout import Layout
from model_store.manifest import File, Manifest

_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV, errno.EACCES})


def ensure_folder(layout: Layout, digest: str, manifest: Manifest) -> Path:
    """Return the folder of the revision `digest`; checks every blob, and rebuilds an incomplete folder.

    Raises MissingFile or CorruptFile for a blob; StoreFull or StoreUnwritable if the folder cannot be built.
    """
    stamps = {file.path: check_blob(layout, file.sha256) for file in manifest.files}
    folder = layout.model(digest)
    if _is_complete(folder, manifest, stamps):
        return folder
    with fileio.writing(layout.root), locks.acquire(layout, locks.FOLDERS):
        if not _is_complete(folder, manifest, stamps):
            _replace(layout, folder, manifest)
    return folder


def build_folder(layout: Layout, folder: Path, manifest: Manifest) -> None:
    """Make the folder `folder` with all files of the manifest. Raises OSError, CorruptFile."""
    fileio.make_folder(folder)
    for file in manifest.files:
        fileio.make_folder((folder / file.path).parent)
        _place(layout.blob(file.sha256), folder / file.path, file)
    fileio.fsync_folder(folder)


def names_in(folder: Path) -> set[str]:
    """List the relative paths of all files and links below a folder."""
    return {
        (Path(place) / name).relative_to(folder).as_posix() for place, _, names in os.walk(folder) for name in names
    }


def _is_complete(folder: Path, manifest: Manifest, stamps: dict[str, Stamp]) -> bool:
    """True if the folder holds exactly the manifest's files, each with its blob's bytes."""
    if names_in(folder) != stamps.keys():
        return False
    return all(_is_blob(folder / file.path, file.sha256, stamps[file.path]) for file in manifest.files)


def _is_blob(path: Path, digest: str, stamp: Stamp) -> bool:
    found = stamp_of(path)
    return found is not None and (found == stamp or fileio.hash_file(path) == digest)


def _replace(layout: Layout, folder: Path, manifest: Manifest) -> None:
    """Build the folder aside and rename it into place; open files of the old folder stay readable."""
    with fileio.temporary_name(layout.temporary) as new, fileio.temporary_name(layout.temporary) as old:
        build_folder(layout, new, manifest)
        fileio.make_folder(folder.parent)
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
        fileio.fsync_folder(folder.parent)


def _place(blob: Path, target: Path, file: File) -> None:
    try:
        os.link(blob, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        copied = fileio.copy_hashed(blob, target)
        if copied != file.sha256:
            raise CorruptFile(str(blob), wanted=file.sha256, found=copied) from None
        seal(target)
