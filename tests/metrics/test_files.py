"""Metric files on a disk that is full: values go on in memory, and no process dies of a page that is not there."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from prometheus_client.mmap_dict import MmapedDict

from service.metrics.files import FIRST_BYTES, AllocatedValues

MANY = 2_000
"""Keys that take more than the first pages of a file."""


def in_file(path: Path) -> dict[str, float]:
    return {key: value for key, value, _, _ in MmapedDict.read_all_values_from_file(str(path))}  # type: ignore[no-untyped-call]


def fill(values: AllocatedValues, count: int = MANY) -> None:
    for number in range(count):
        values.read_value(f"key {number} with a rather long name")  # type: ignore[no-untyped-call]
        values.write_value(f"key {number} with a rather long name", float(number), 0.0)  # type: ignore[no-untyped-call]


def held(values: AllocatedValues) -> dict[str, float]:
    return {key: value for key, value, _ in values.read_all_values()}  # type: ignore[no-untyped-call]


Opened = Callable[[Path], AllocatedValues]


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Opens values, and closes them after the test."""
    made: list[AllocatedValues] = []

    def open_values(path: Path) -> AllocatedValues:
        made.append(AllocatedValues(str(path)))
        return made[-1]

    yield open_values
    for values in made:
        values.close()  # type: ignore[no-untyped-call]


def test_every_page_of_a_file_is_allocated_before_it_is_mapped(tmp_path: Path, opened: Opened) -> None:
    path = tmp_path / "counter_1.db"
    values = opened(path)
    assert path.stat().st_blocks * 512 >= FIRST_BYTES
    fill(values)
    assert len(in_file(path)) == MANY
    assert path.stat().st_size > FIRST_BYTES
    assert path.stat().st_blocks * 512 >= path.stat().st_size
    again = opened(path)
    assert held(again) == held(values)
    assert [each.name for each in tmp_path.iterdir()] == ["counter_1.db"]


@pytest.mark.parametrize("room", [0, FIRST_BYTES])
def test_without_space_values_go_on_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: Opened, room: int
) -> None:
    allocate = os.posix_fallocate

    def limited(descriptor: int, offset: int, size: int) -> None:
        if offset + size > room:
            raise OSError(errno.ENOSPC, "no space")
        allocate(descriptor, offset, size)

    monkeypatch.setattr(os, "posix_fallocate", limited)
    path = tmp_path / "counter_1.db"
    values = opened(path)
    fill(values)
    assert len(held(values)) == MANY
    assert held(values)["key 1999 with a rather long name"] == 1999.0
    if room:
        assert 0 < len(in_file(path)) < MANY
    else:
        assert list(tmp_path.iterdir()) == [], "a file without content would fail those who read all of them"


PROGRAM = """
import os, sys
from pathlib import Path
folder = Path(sys.argv[1])
with (folder / "filler").open("wb") as filler:
    try:
        while True:
            os.write(filler.fileno(), bytes(4096))
    except OSError:
        pass
from service.metrics.engine import EngineMetrics
from service.metrics.exposition import exposition
metrics = EngineMetrics()
for number in range(3_000):
    metrics.refusals.labels(f"a code with a long name {number}").inc()
print(len(exposition()))
"""


@pytest.mark.needs("mounts")
def test_a_process_lives_through_a_full_disk(tmp_path: Path) -> None:
    """A file system of its own, of 1 MiB; with sparse files the kernel kills the process (SIGBUS)."""
    mounted = 'mount -t tmpfs -o size=1m none "$1" && exec "$2" -c "$3" "$1"'
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", mounted, "sh", str(tmp_path), sys.executable]
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    ended = subprocess.run(
        [*command, PROGRAM], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 0, ended
