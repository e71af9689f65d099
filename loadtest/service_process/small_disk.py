"""A disk of a few megabytes in memory, and how it is filled to its last byte. Mounting needs root."""

from __future__ import annotations

import errno
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PIECE_BYTES = 1 << 20


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[bool]:
    """Mount a file system of this size at `folder`, which is made; False where that is not allowed."""
    folder.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=1777", "gleaner-disk", str(folder)]
    try:
        mounted = subprocess.run(command, check=False, capture_output=True).returncode == 0
    except FileNotFoundError:
        mounted = False
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=False, capture_output=True)


def fill(file: Path) -> None:
    """Write into a file until no byte is left on its disk.

    Raises:
        OSError: the disk failed otherwise.
    """
    with file.open("wb", buffering=0) as sink:
        for piece in (PIECE_BYTES, 1):
            try:
                while True:
                    sink.write(bytes(piece))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
