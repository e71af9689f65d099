"""Files that are on this machine already, for instance in the container's image, and need not be fetched.

A baked folder is a model's folder, a folder of such folders, or a whole store. A file of the right name and size is
copied into the store and hashed on the way; if it has another digest after all, it is fetched like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from model_store import fileio
from model_store.errors import Unreadable
from model_store.local.blobs import commit_blob
from model_store.local.layout import Layout
from model_store.local.receipts import stamp_of
from model_store.manifest import File


def copy_baked(
    layout: Layout, files: Iterable[File], folders: Sequence[Path], advance: fileio.Advance
) -> tuple[File, ...]:
    """Copy into the store what is found of `files`; what was found. Raises StoreFull, StoreUnwritable."""
    return tuple(file for file in files if any(_copy(layout, file, path, advance) for path in places(file, folders)))


def places(file: File, folders: Sequence[Path]) -> Iterator[Path]:
    """Where the file may be: regular files of its size."""
    for folder in folders:
        inner = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else ()
        for path in (Layout(folder).blob(file.sha256), folder / file.path, *(each / file.path for each in inner)):
            stamp = stamp_of(path)
            if stamp is not None and stamp.size_bytes == file.size_bytes:
                yield path


def _copy(layout: Layout, file: File, source: Path, advance: fileio.Advance) -> bool:
    with fileio.writing(layout.root), fileio.temporary_name(layout.temporary) as name:
        try:
            if fileio.copy_hashed(source, name) != file.sha256:
                return False
        except Unreadable:
            return False
        commit_blob(layout, name, file.sha256)
    advance(file.size_bytes)
    return True
