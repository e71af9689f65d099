"""Prefetched files: copies files that are already on this machine, e.g. in the container's image, into the store.

A prefetched folder is a model's folder, a folder of such folders, or a whole store. A file of the right name and size
is copied and hashed on the way; if its digest is wrong, it is downloaded like any other.
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
from model_store.progress import OnBytes


def copy_prefetched(
    layout: Layout, files: Iterable[File], folders: Sequence[Path], on_bytes: OnBytes
) -> tuple[File, ...]:
    """Copy the files that are in `folders` into the store; the copied ones. Raises StoreFull, StoreUnwritable."""
    return tuple(
        file for file in files if any(_copy(layout, file, path, on_bytes) for path in candidate_paths(file, folders))
    )


def candidate_paths(file: File, folders: Sequence[Path]) -> Iterator[Path]:
    """Regular files of the same size at the places where the file may be."""
    for folder in folders:
        inner = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else ()
        for path in (Layout(folder).blob(file.sha256), folder / file.path, *(each / file.path for each in inner)):
            stamp = stamp_of(path)
            if stamp is not None and stamp.size_bytes == file.size_bytes:
                yield path


def _copy(layout: Layout, file: File, source: Path, on_bytes: OnBytes) -> bool:
    """True if the source had the right digest and is now in the store."""
    with fileio.writing(layout.root), fileio.temporary_name(layout.temporary) as name:
        try:
            if fileio.copy_hashed(source, name) != file.sha256:
                return False
        except Unreadable:
            return False
        commit_blob(layout, name, file.sha256)
    on_bytes(file.size_bytes)
    return True
