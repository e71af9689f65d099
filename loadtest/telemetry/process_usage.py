"""Memory, CPU time and open files of a process and its descendants, by psutil."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

import psutil


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """Sums over a process tree. `memory_bytes` is proportional (PSS), so that shared pages count once."""

    processes: int
    memory_bytes: int
    open_files: int
    cpu_seconds: float


def usage(root: int) -> ProcessUsage:
    """The usage of a process tree; a process that ends during the measurement counts as zero."""
    tree = process_tree(root)
    return ProcessUsage(
        processes=len(tree),
        memory_bytes=int(_sum(tree, _memory_bytes)),
        open_files=int(_sum(tree, lambda process: process.num_fds())),
        cpu_seconds=_sum(tree, lambda process: sum(process.cpu_times()[:2])),
    )


def process_tree(root: int) -> list[psutil.Process]:
    """The process with this id and its descendants; empty if it does not exist."""
    with suppress(psutil.Error):
        process = psutil.Process(root)
        return [process, *process.children(recursive=True)]
    return []


def processes_running(module: str, root: int) -> list[psutil.Process]:
    """The processes of a tree that were started by `python -m module`."""
    return [process for process in process_tree(root) if module in _command(process)]


def children_of(process: psutil.Process) -> list[psutil.Process]:
    """The children of a process; none if it has ended."""
    with suppress(psutil.Error):
        return list(process.children())
    return []


def _command(process: psutil.Process) -> list[str]:
    with suppress(psutil.Error):
        return list(process.cmdline())
    return []


def _memory_bytes(process: psutil.Process) -> float:
    """The PSS, which only Linux knows; of a process that hides its memory only root is told, all others get the RSS."""
    try:
        memory = process.memory_full_info()
    except psutil.AccessDenied:
        return float(process.memory_info().rss)
    return float(getattr(memory, "pss", memory.rss))


def _sum(processes: Iterable[psutil.Process], measure: Callable[[psutil.Process], float]) -> float:
    found = 0.0
    for process in processes:
        with suppress(psutil.Error):
            found += measure(process)
    return found
