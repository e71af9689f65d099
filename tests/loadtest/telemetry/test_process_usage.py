"""Usage of process trees, measured on real processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from loadtest.telemetry.process_usage import process_tree, processes_running, usage

HOLDS_MEMORY = "held = bytearray(64 << 20); held[:] = b'x' * len(held); print(flush=True); input()"


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A Python process that has printed a line and waits."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, *arguments], stdin=pipe, stdout=pipe) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


def test_a_tree_is_a_process_and_its_descendants() -> None:
    with running("-c", HOLDS_MEMORY) as child:
        assert child.pid in [process.pid for process in process_tree(os.getpid())]
        found = usage(child.pid)
    assert found.processes == 1
    assert found.open_files >= 3
    assert found.memory_bytes > 64 << 20
    assert found.cpu_seconds > 0


def test_a_process_that_has_ended_uses_nothing() -> None:
    with running("-c", "print(flush=True); input()") as child:
        pass
    assert usage(child.pid).processes == 0
    assert usage(child.pid).memory_bytes == 0


def test_processes_are_found_by_the_module_that_they_run() -> None:
    with running("-m", "loadtest.bench.generator.null_server") as server:
        found = processes_running("loadtest.bench.generator.null_server", os.getpid())
        assert [process.pid for process in found] == [server.pid]
        assert processes_running("loadtest.bench.generator", os.getpid()) == []


@pytest.mark.parametrize("name", ["memory_bytes", "open_files", "cpu_seconds"])
def test_the_usage_of_this_process_is_above_zero(name: str) -> None:
    assert getattr(usage(os.getpid()), name) > 0
