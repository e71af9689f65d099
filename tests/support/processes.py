"""Processes: what they inherit, and what /proc shows of them; threads and processes may end at any moment."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def inherited(number: signal.Signals, handling: signal.Handlers) -> Iterator[None]:
    """Have processes that are started meanwhile handle a signal so, whatever `nohup` or `&` set for the tests."""
    earlier = signal.signal(number, handling)
    try:
        yield
    finally:
        signal.signal(number, earlier)


def children_of(process: int) -> list[int]:
    """The processes that any thread of this one has started."""
    try:
        tasks = list(Path(f"/proc/{process}/task").iterdir())
    except (FileNotFoundError, ProcessLookupError):
        return []  # It has ended.
    return [int(pid) for task in tasks for pid in _content(task / "children").split()]


def command_of(process: int) -> str:
    """Its command line, its words parted by zeros; nothing if it has ended."""
    return _content(Path(f"/proc/{process}/cmdline"))


def lives(process: int) -> bool:
    """True while the process runs; a zombie does not."""
    return _content(Path(f"/proc/{process}/stat")).rpartition(")")[2].split()[:1] not in ([], ["Z"])


def _content(of: Path) -> str:
    try:
        return of.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def peak_bytes(process: int) -> int:
    """The most resident memory that the process has had; 0 if it has ended."""
    lines = _content(Path(f"/proc/{process}/status")).splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)
