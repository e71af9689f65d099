"""File locks (flock) between processes that share a store. A lock is released when its process ends or is killed.

Four named locks, always acquired in this order:

    contents    shared while blobs are added or needed (publish, pull); exclusive while they are deleted
    fetches     exclusive, by the one process that downloads; the others wait and then find the files
    tags        exclusive, while a tag is compared and moved
    folders     exclusive, while a model's folder is built

Each served revision has a lock, shared by the processes that serve it, so that it is not evicted.
The modification time of its file is that of the revision's last use. In a store that cannot be written to,
nothing can be evicted either, so no lock is needed.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from model_store import fileio
from model_store.errors import StoreBusy, StoreUnwritable
from model_store.local.layout import Layout
from model_store.reference import hex_digits

CONTENTS = "contents"
FETCHES = "fetches"
TAGS = "tags"
FOLDERS = "folders"

_POLL_SECONDS = 0.02


@contextmanager
def acquire(layout: Layout, name: str, *, shared: bool = False, timeout_seconds: float = 60.0) -> Iterator[None]:
    """Hold the lock `name` inside the context. Raises StoreBusy at the timeout, StoreUnwritable without a lock file."""
    descriptor = _open(layout, name)
    try:
        _lock(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX, time.monotonic() + timeout_seconds, name)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def in_use(layout: Layout, revision: str) -> Iterator[None]:
    """Keep `revision` from being evicted inside the context."""
    descriptor = -1
    with suppress(StoreUnwritable):
        descriptor = _open(layout, _use_lock(revision))
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        os.utime(descriptor)
    try:
        yield
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def is_in_use(layout: Layout, revision: str) -> bool:
    """True while any process is inside `in_use` for the revision."""
    descriptor = _open(layout, _use_lock(revision))
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def last_used_seconds(layout: Layout, revision: str) -> float:
    """Read the time of a revision's last use, or else of its storing; seconds since 1970, 0 if unknown."""
    for path in (layout.lock(_use_lock(revision)), layout.manifest(hex_digits(revision))):
        with suppress(OSError):
            return path.stat().st_mtime
    return 0.0


def _use_lock(revision: str) -> str:
    return f"in-use-{hex_digits(revision)}"


def _open(layout: Layout, name: str) -> int:
    path = layout.lock(name)
    with fileio.writing(layout.root):
        fileio.make_folder(path.parent)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)


def _lock(descriptor: int, mode: int, deadline_seconds: float, name: str) -> None:
    while True:
        try:
            fcntl.flock(descriptor, mode | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline_seconds:
                raise StoreBusy(f"Another process has kept the store's lock '{name}' for too long.") from None
            time.sleep(_POLL_SECONDS)
