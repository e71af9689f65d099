"""Files of metric values whose disk space is allocated before it is mapped.

prometheus-client maps sparse files: on a full disk the first write to a page kills the process (SIGBUS). Here the
space is allocated first; where there is none, the values go on in memory that no other process sees, and the service
lives on without them in its sums.
"""

from __future__ import annotations

import mmap
import os
from typing import BinaryIO

from prometheus_client import values
from prometheus_client.mmap_dict import MmapedDict

FIRST_BYTES = 1 << 16
_ENTRY_BYTES = 32
"""Of an entry beside its key, at most: its length, padding, value and time."""
_UNUSED = 8
"""Bytes of the header, which is zero but for them."""


class AllocatedValues(MmapedDict):
    """The values of one kind of metric of one process, by key."""

    def __init__(self, filename: str, read_mode: bool = False) -> None:
        self._in_file = read_mode or _make(filename)
        if self._in_file:
            super().__init__(filename, read_mode)  # type: ignore[no-untyped-call]
            return
        self._f: BinaryIO = open(os.devnull, "rb")  # noqa: SIM115
        self._fname = filename
        self._capacity = FIRST_BYTES
        self._m = mmap.mmap(-1, FIRST_BYTES)
        self._m[:4] = _UNUSED.to_bytes(4, "little")
        self._used = _UNUSED
        self._positions: dict[str, int] = {}

    def _init_value(self, key: str) -> None:
        while self._used + len(key.encode()) + _ENTRY_BYTES > self._capacity:
            self._grow(2 * self._capacity)
        super()._init_value(key)  # type: ignore[no-untyped-call]

    def _grow(self, size: int) -> None:
        """Map twice as much of the file, or, where the disk is full, copy the values into memory."""
        old = self._m
        self._in_file = self._in_file and _allocate(self._f.fileno(), size)
        if self._in_file:
            self._m = mmap.mmap(self._f.fileno(), size)
        else:
            self._m = mmap.mmap(-1, size)
            self._m[: self._capacity] = old[: self._capacity]
        self._capacity = size


def keep_in_allocated_files() -> None:
    """Have prometheus-client keep the values of metrics that are made from now on in `AllocatedValues`."""
    setattr(values, MmapedDict.__name__, AllocatedValues)  # By this name `values` looks it up for each file.


def _make(filename: str) -> bool:
    """Make the file under its name only when its space is there: other processes read what has it."""
    if os.path.exists(filename):
        return True
    unnamed = f"{filename}.new"
    try:
        with open(unnamed, "wb") as file:
            if _allocate(file.fileno(), FIRST_BYTES):
                os.rename(unnamed, filename)
                return True
        os.unlink(unnamed)
    except OSError:
        pass
    return False


def _allocate(descriptor: int, size: int) -> bool:
    """Give a file this size, with space on the disk for all of it; false when there is none."""
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(descriptor, 0, size)
        else:
            have = os.fstat(descriptor).st_size
            os.pwrite(descriptor, bytes(size - have), have)
    except OSError:
        return False
    return True
