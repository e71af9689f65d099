"""Runtime folder of one service: its sockets, metrics and journal, on another file system than uploads and models.

A disk full of uploads must not stop the service, so the default is a folder in memory (/dev/shm) that
is private, and removed at the end, or after a sudden end by the next start.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

NAME = "gleaner-"
LOCK = "lock"
PRIVATE = 0o700
MEMORY_FOLDERS = (Path("/dev/shm"), Path("/run"))
"""Parents of temporary folders, if they are not on the disk of temporary files."""
NEEDED_BYTES = 32 * 1024 * 1024


@contextmanager
def runtime_folder(named: Path | None) -> Iterator[Path]:
    """Make the named folder, or a private one that is removed afterwards, with its folder of metrics."""
    if named is not None:
        for folder in (named, named / "metrics"):
            folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        yield named
        return
    parent = next(filter(_is_apart, MEMORY_FOLDERS), Path(tempfile.gettempdir()))
    _remove_left_behind(parent)
    made = Path(tempfile.mkdtemp(prefix=NAME, dir=parent))
    try:
        with _locked(made):
            (made / "metrics").mkdir(mode=PRIVATE)
            yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _is_apart(folder: Path) -> bool:
    """True for a writable folder with room, on another file system than temporary files."""
    try:
        found = os.statvfs(folder)
        apart = os.stat(folder).st_dev != os.stat(tempfile.gettempdir()).st_dev
    except OSError:
        return False
    return apart and found.f_bavail * found.f_frsize >= NEEDED_BYTES and os.access(folder, os.W_OK | os.X_OK)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, which the kernel releases when this process dies; it has its name only while held."""
    unnamed = folder / f"{LOCK}.new"
    with unnamed.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        unnamed.rename(folder / LOCK)
        yield


def _remove_left_behind(parent: Path) -> None:
    """Remove the folders of this user's services that were killed."""
    for folder in parent.glob(f"{NAME}*"):
        with suppress(OSError):
            if folder.stat().st_uid == os.geteuid() and not folder.is_symlink() and _is_unlocked(folder / LOCK):
                shutil.rmtree(folder)


def _is_unlocked(lock: Path) -> bool:
    with lock.open("r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
