"""Host memory: this process's own, and control groups of both versions as files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import service.host_memory as host

MIB = 1 << 20
UNLIMITED = 9_223_372_036_854_771_712


def _host(root: Path, groups: str = "") -> Path:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/meminfo").write_text("MemTotal:  8192 kB\nMemFree: 1024 kB\nMemAvailable:    4096 kB\n")
    (root / "proc/self/cgroup").write_text(groups)
    return root


def _group(folder: Path, names: tuple[str, str, str], limit: object, used: int, inactive: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in zip(names, (limit, used, f"anon 5\n{names[2]} {inactive}"), strict=True):
        (folder / ("memory.stat" if name == names[2] else name)).write_text(f"{value}\n")


V2 = ("memory.max", "memory.current", "inactive_file")
V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def test_without_control_groups_the_host_limits(tmp_path: Path) -> None:
    assert host.available_bytes(_host(tmp_path)) == 4 * MIB
    assert host.limit_bytes(tmp_path) == 8 * MIB


@pytest.mark.parametrize(
    ("line", "mount", "names"), [("0::/pod/box", "", V2), ("7:cpu:/\n4:memory:/pod/box", "memory", V1)]
)
def test_the_tightest_control_group_limits(tmp_path: Path, line: str, mount: str, names: tuple[str, str, str]) -> None:
    root = _host(tmp_path, line)
    groups = root / "sys/fs/cgroup" / mount
    _group(groups / "pod/box", names, 3 * MIB, 2 * MIB, MIB // 2)
    _group(groups / "pod", names, 5 * MIB, 4 * MIB, 0)
    assert host.available_bytes(root) == MIB
    assert host.limit_bytes(root) == 3 * MIB


@pytest.mark.parametrize(
    ("line", "mount", "names", "none"), [("0::/", "", V2, "max"), ("4:memory:/", "memory", V1, UNLIMITED)]
)
def test_a_control_group_without_a_limit_is_left_out(
    tmp_path: Path, line: str, mount: str, names: tuple[str, str, str], none: object
) -> None:
    root = _host(tmp_path, line)
    _group(root / "sys/fs/cgroup" / mount, names, none, 7 * MIB, 0)
    assert host.available_bytes(root) == 4 * MIB


def test_a_hidden_folder_of_the_group_leaves_the_mount(tmp_path: Path) -> None:
    root = _host(tmp_path, "4:memory:/docker/0123")
    _group(root / "sys/fs/cgroup/memory", V1, 2 * MIB, MIB, 0)
    assert host.available_bytes(root) == MIB


def test_use_over_the_limit_leaves_nothing(tmp_path: Path) -> None:
    root = _host(tmp_path, "0::/box")
    _group(root / "sys/fs/cgroup/box", V2, MIB, 2 * MIB, 0)
    assert host.available_bytes(root) == 0


def test_the_peak_is_measured_and_reset() -> None:
    assert host.can_be_measured()
    host.trim()
    host.reset_peak()
    before = host.resident_bytes()
    block = bytearray(64 * MIB)
    del block
    assert host.peak_resident_bytes() - before > 60 * MIB
    host.trim()
    host.reset_peak()
    assert host.peak_resident_bytes() - before < 32 * MIB


@pytest.mark.skipif(sys.platform != "linux", reason="of Linux")
def test_the_peak_is_reset_though_memory_is_hidden_and_nobody_is_root() -> None:
    """PR_SET_DUMPABLE is 4; a change of user hides the memory, too, so that it is shown again first."""
    program = """
import ctypes, os
import service.host_memory as host
from service.process import hide_memory
if os.getuid() == 0:
    os.setuid(65534)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
host.peak_switch()
hide_memory()
held = b"a" * 50_000_000
before = host.peak_resident_bytes()
del held
host.reset_peak()
assert host.peak_resident_bytes() < before - 40_000_000
try:
    open("/proc/self/clear_refs", "wb")
except PermissionError:
    print("hidden")
"""
    assert subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True).stdout == b"hidden\n"


CPU_V1 = ("cpu.cfs_quota_us", "cpu.cfs_period_us")


@pytest.mark.parametrize(
    ("quotas", "cores"),
    [
        ({"pod/box": "50000 100000", "pod": "300000 100000"}, 1),
        ({"pod": "100000 100000"}, 1),
        ({"pod/box": "150000 100000"}, 2),
        ({"pod/box": "max 100000"}, 8),
        ({"pod/box": "-1 100000"}, 8),
        ({"pod/box": "6400000 100000"}, 8),
        ({"pod/box": "nonsense"}, 8),
        ({}, 8),
    ],
)
@pytest.mark.parametrize(("line", "mount"), [("0::/pod/box", ""), ("4:cpu,cpuacct:/pod/box", "cpu")])
def test_the_tightest_quota_says_how_many_cores_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, mount: str, quotas: dict[str, str], cores: int
) -> None:
    """Eight workers and sixteen threads ran on one core's worth of time, throttled for a third of it."""

    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)), raising=False)
    root = _host(tmp_path, line)
    for folder, quota in quotas.items():
        group = root / "sys/fs/cgroup" / mount / folder
        group.mkdir(parents=True, exist_ok=True)
        for name, value in zip(CPU_V1, quota.split(), strict=False) if mount else (("cpu.max", quota),):
            (group / name).write_text(f"{value}\n")
    assert host.usable_cores(root) == cores
