"""Memory, CPU and open files of a process and its descendants, read from /proc; nothing where there is no /proc."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """Sums over a process tree. `memory_bytes` counts shared pages once (PSS) where the kernel tells."""

    processes: int
    memory_bytes: int
    open_files: int
    cpu_seconds: float


def usage(root: int) -> ProcessUsage:
    """What the tree under this process uses; a process that ends meanwhile counts as nothing."""
    tree = descendants(root)
    memory = sum(_memory_bytes(each) for each in tree)
    return ProcessUsage(len(tree), memory, sum(map(_open_files, tree)), sum(map(_cpu_seconds, tree)))


def descendants(root: int) -> list[int]:
    """The process and all below it."""
    found, left = [], [root]
    while left:
        process = left.pop()
        if (PROC / str(process)).exists():
            found.append(process)
            left += _children(process)
    return found


def _children(process: int) -> list[int]:
    found: list[int] = []
    for task in _names(PROC / str(process) / "task"):
        found += map(int, _text(PROC / str(process) / "task" / task / "children").split())
    return found


def _memory_bytes(process: int) -> int:
    folder = PROC / str(process)
    for name, word in (("smaps_rollup", "Pss:"), ("status", "VmRSS:")):
        for line in _text(folder / name).splitlines():
            if line.startswith(word):
                return int(line.split()[1]) * 1024
    return 0


def _open_files(process: int) -> int:
    return len(_names(PROC / str(process) / "fd"))


def _cpu_seconds(process: int) -> float:
    fields = _text(PROC / str(process) / "stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
