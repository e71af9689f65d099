"""Advisory locks between the processes that share a store. A lock dies with its process, however that dies.

`contents`: shared by whoever adds or relies on blobs for a while (publish, sync), exclusive for whoever deletes them.
`fetches`: exclusive, by the one process that fetches; the others wait and then find what they wanted.
`tags`: exclusive, for the moment in which a tag is compared and moved. `folders`: the same for a model's folder.
Always taken in this order.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from model_store import fileio
from model_store.errors import StoreBusy
from model_store.local.layout import Layout

CONTENTS = "contents"
FETCHES = "fetches"
TAGS = "tags"
FOLDERS = "folders"

_POLL_SECONDS = 0.02


@contextmanager
def held(layout: Layout, what: str, *, shared: bool = False, timeout_seconds: float = 60.0) -> Iterator[None]:
    """Hold the lock `what`. Raises StoreBusy if others keep it for too long, StoreUnwritable if it cannot be made."""
    path = layout.lock(what)
    with fileio.writing(layout.root):
        fileio.make_folder(path.parent)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        _acquire(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX, time.monotonic() + timeout_seconds, what)
        yield
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, mode: int, deadline_seconds: float, what: str) -> None:
    while True:
        try:
            fcntl.flock(descriptor, mode | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline_seconds:
                raise StoreBusy(f"Another process has kept the store's lock '{what}' for too long.") from None
            time.sleep(_POLL_SECONDS)
