"""Which revisions are being served, so that nobody evicts them: one shared lock for each, held by whoever serves it.

A lock dies with its process. The lock file's modification time says when the revision was last taken into use. Where
the store cannot be written to, nothing can be evicted either, and no lock is needed.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from model_store import fileio
from model_store.errors import StoreUnwritable
from model_store.local.layout import Layout
from model_store.reference import hex_digits


@contextmanager
def in_use(layout: Layout, revision: str) -> Iterator[None]:
    """Keep `revision` from being evicted, as long as the context lasts."""
    descriptor = -1
    with suppress(StoreUnwritable):
        descriptor = _open(layout, revision)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        os.utime(descriptor)
    try:
        yield
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def is_in_use(layout: Layout, revision: str) -> bool:
    """Whether any process keeps the revision."""
    descriptor = _open(layout, revision)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def last_used_seconds(layout: Layout, revision: str) -> float:
    """When the revision was last taken into use, or else came into the store; seconds since 1970, 0 if unknown."""
    digest = hex_digits(revision)
    for path in (layout.lock(_name(digest)), layout.manifest(digest)):
        with suppress(OSError):
            return path.stat().st_mtime
    return 0.0


def _open(layout: Layout, revision: str) -> int:
    path = layout.lock(_name(hex_digits(revision)))
    with fileio.writing(layout.root):
        fileio.make_folder(path.parent)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)


def _name(digest: str) -> str:
    return f"in-use-{digest}"
