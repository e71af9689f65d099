"""A control group with a memory limit, which lets a service and a memory hog compete for little memory.

It needs the right to create control groups (root, version 1 or 2).
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
    """One memory control group, by its folder."""

    folder: Path

    def limit(self, limit_bytes: int) -> None:
        """Limit the memory of all its processes together."""
        self._file("memory.max", "memory.limit_in_bytes").write_text(str(limit_bytes))

    def limit_bytes(self) -> int:
        return int(self._file("memory.max", "memory.limit_in_bytes").read_text())

    def used_bytes(self) -> int:
        """Memory of its processes, without inactive pages of files."""
        used = int(self._file("memory.current", "memory.usage_in_bytes").read_text())
        fields = dict(line.split() for line in (self.folder / "memory.stat").read_text().splitlines())
        return used - int(fields.get("total_inactive_file", fields.get("inactive_file", "0")))

    def left_bytes(self) -> int:
        return self.limit_bytes() - self.used_bytes()

    def enter(self) -> None:
        """Move this process into the group; its later children are in it too."""
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def kills(self) -> int:
        """Processes that the out-of-memory killer has killed."""
        file = self._file("memory.events", "memory.oom_control")
        fields = dict(line.split() for line in file.read_text().splitlines())
        return int(fields.get("oom_kill", "0"))

    def _file(self, second: str, first: str) -> Path:
        return self.folder / (second if (self.folder / second).exists() else first)


@contextmanager
def memory_cgroup() -> Iterator[MemoryCgroup | None]:
    """A new group without a limit; None where this process may not create one."""
    name = f"gleaner-bench-{os.getpid()}"
    folder = (GROUPS / "memory" if (GROUPS / "memory").is_dir() else GROUPS) / name
    try:
        folder.mkdir()
    except OSError:
        yield None
        return
    group = MemoryCgroup(folder)
    try:
        yield group if (folder / "memory.stat").exists() else None
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a group whose processes have ended; the kernel may need a moment to allow it."""
    end = time.monotonic() + REMOVAL_SECONDS
    while folder.exists() and time.monotonic() < end:
        with contextlib.suppress(OSError):
            folder.rmdir()
        time.sleep(0.1)
