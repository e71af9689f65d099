"""Host memory and cores, by the kernel's accounts: reads this process's available, resident and peak memory.

Available is the least of the host's available memory and the headroom of every control group (version 1 or 2) that this
process is in. Inactive file pages count as free: the kernel drops them before it kills a process. Cores are those that
the scheduler lets it run on, or the least quota of its control groups.
"""

from __future__ import annotations

import ctypes
import math
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path("/")
UNLIMITED_BYTES = 1 << 60
"""Bytes from which a limit is none: version 1 of control groups writes a number near 2^63 for that."""

_RESET_PEAK = b"5"  # See proc_pid_clear_refs(5).


def available_bytes(root: Path = ROOT) -> int:
    """Read the bytes that this process may still take before the kernel kills a process for it."""
    headrooms = [limit - used for limit, used in _groups(root)]
    return max(0, min([_host_available_bytes(root), *headrooms]))


def free_bytes() -> int:
    """Read `available_bytes`; `UNLIMITED_BYTES` where the system does not tell."""
    try:
        return available_bytes()
    except (OSError, KeyError, ValueError):
        return UNLIMITED_BYTES


def limit_bytes(root: Path = ROOT) -> int:
    """Read the tightest limit of this process's control groups, or the host's memory if that is less."""
    return min([_kibibytes(root / "proc/meminfo", "MemTotal"), *(limit for limit, _ in _groups(root))])


def usable_cores(root: Path = ROOT) -> int:
    """Count the cores that this process may use, at least one; a quota of one and a half counts two."""
    most = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([most, *(math.ceil(quota) for quota in _cpu_quotas(root))]))


def _cpu_quotas(root: Path) -> Iterator[float]:
    """Yield the quota, in cores, of each limited control group."""
    for folder, is_second in _folders(root, "cpu"):
        names = ("cpu.max",) if is_second else ("cpu.cfs_quota_us", "cpu.cfs_period_us")
        try:
            quota, period = " ".join((folder / name).read_text(encoding="ascii") for name in names).split()
            if quota not in ("max", "-1"):
                yield int(quota) / int(period)
        except (OSError, ValueError, ZeroDivisionError):  # As with memory.
            continue


def resident_bytes() -> int:
    """Read the resident bytes of this process."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def peak_resident_bytes() -> int:
    """Read the peak of resident bytes since the last `reset_peak`."""
    return _kibibytes(Path("/proc/self/status"), "VmHWM")


@cache
def peak_switch() -> int:
    """Open the descriptor that resets the peak, once: a process that has hidden its memory cannot open it any more.

    Raises:
        OSError: the kernel does not offer it, or this is not Linux.
    """
    return os.open("/proc/self/clear_refs", os.O_WRONLY | os.O_CLOEXEC)


def reset_peak() -> None:
    """Restart the peak from the resident bytes of now.

    Raises:
        OSError: as for `peak_switch`.
    """
    os.write(peak_switch(), _RESET_PEAK)


def can_be_measured() -> bool:
    """True where the system reports a process's own peak."""
    try:
        reset_peak()
        return sys.platform.startswith("linux") and peak_resident_bytes() > 0 and available_bytes() > 0
    except (OSError, ValueError, KeyError):
        return False


def trim() -> None:
    """Return freed memory to the kernel, if the C library is glibc."""
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(ctypes.c_size_t(0))


def _host_available_bytes(root: Path) -> int:
    return _kibibytes(root / "proc/meminfo", "MemAvailable")


def _kibibytes(file: Path, field: str) -> int:
    for line in file.read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    raise KeyError(f"{file} has no {field}")


def _groups(root: Path) -> Iterator[tuple[int, int]]:
    """Yield limit and use of each limited control group, from this process's own up to the root."""
    second = ("memory.max", "memory.current", "inactive_file")
    first = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    for folder, is_second in _folders(root, "memory"):
        limit, used, unused_files = second if is_second else first
        try:
            limit_text = (folder / limit).read_text(encoding="ascii").strip()
            if limit_text == "max" or int(limit_text) >= UNLIMITED_BYTES:
                continue
            droppable = _field(folder / "memory.stat", unused_files)
            yield int(limit_text), int((folder / used).read_text(encoding="ascii")) - droppable
        except (OSError, ValueError):  # The root group has no limit; a group's folder may be hidden from this process.
            continue


def _folders(root: Path, controller: str) -> Iterator[tuple[Path, bool]]:
    """Yield the folders of a controller's groups, from this process's own up to the root; True for version 2."""
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        number, controllers, own = line.split(":", 2)
        if number == "0" and not controllers:
            yield from ((folder, True) for folder in _upwards(root / "sys/fs/cgroup", own))
        elif controller in controllers.split(","):
            yield from ((folder, False) for folder in _upwards(root / "sys/fs/cgroup" / controller, own))


def _upwards(mount: Path, own: str) -> Iterator[Path]:
    """Yield a group's folder and its parents; in a container the path may be the host's, and only the mount exist."""
    folder = mount / own.strip("/")
    while folder != mount:
        yield folder
        folder = folder.parent
    yield mount


def _field(file: Path, name: str) -> int:
    for line in file.read_text(encoding="ascii").splitlines():
        if line.startswith(name + " "):
            return int(line.split()[1])
    return 0
