"""A control group with a memory limit, so that a service and a hog fight over little memory on a large machine.

Works where this process may make control groups (as root, version 1 or 2); elsewhere there is no box.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
REMOVAL_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class MemoryCgroup:
    """One control group, by its folder."""

    folder: Path

    def limit(self, limit_bytes: int) -> None:
        """From now on all processes in it together may hold so much."""
        self._file("memory.max", "memory.limit_in_bytes").write_text(str(limit_bytes))

    def limit_bytes(self) -> int:
        return int(self._file("memory.max", "memory.limit_in_bytes").read_text())

    def used_bytes(self) -> int:
        """What its processes hold; pages of files that nobody uses do not count."""
        used = int(self._file("memory.current", "memory.usage_in_bytes").read_text())
        fields = dict(line.split() for line in (self.folder / "memory.stat").read_text().splitlines())
        return used - int(fields.get("total_inactive_file", fields.get("inactive_file", "0")))

    def left_bytes(self) -> int:
        return self.limit_bytes() - self.used_bytes()

    def enter(self) -> None:
        """Move this process into it; its children follow."""
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def kills(self) -> int:
        """How often the kernel killed a process for want of memory."""
        file = self._file("memory.events", "memory.oom_control")
        fields = dict(line.split() for line in file.read_text().splitlines())
        return int(fields.get("oom_kill", "0"))

    def _file(self, second: str, first: str) -> Path:
        return self.folder / (second if (self.folder / second).exists() else first)


@contextmanager
def memory_cgroup() -> Iterator[MemoryCgroup | None]:
    """A fresh one, without a limit; None where none can be made."""
    name = f"gleaner-bench-{os.getpid()}"
    folder = (GROUPS / "memory" if (GROUPS / "memory").is_dir() else GROUPS) / name
    try:
        folder.mkdir()
    except OSError:
        yield None
        return
    made = MemoryCgroup(folder)
    try:
        yield made if (folder / "memory.stat").exists() else None
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    """Its processes have ended; the kernel may need a moment to notice."""
    end = time.monotonic() + REMOVAL_SECONDS
    while folder.exists() and time.monotonic() < end:
        with contextlib.suppress(OSError):
            folder.rmdir()
        time.sleep(0.1)
