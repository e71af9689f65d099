"""The search finds the best set-up of a well-behaved peer without trying them all, and never tries one twice."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from loadtest.bench.peers.contest import Setup, best_setup, running
from loadtest.service_process import KeptPort
from tests.support.processes import lives
from tests.support.service import wait_until

FIRST = Setup(workers=1, threads=2, batch_size=4)


def peaked(workers: int, batch_size: int, tried: list[Setup]) -> Callable[[Setup], float]:
    """A peer that is fastest with these, and slower with each step away."""

    def rate(setup: Setup) -> float:
        tried.append(setup)
        away = max(setup.batch_size, batch_size) / min(setup.batch_size, batch_size)
        return (2.0 if setup.workers == workers else 1.0) / away

    return rate


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("batch_size", [1, 4, 16])
def test_the_best_is_found_and_nothing_is_tried_twice(workers: int, batch_size: int) -> None:
    tried: list[Setup] = []
    found = best_setup(FIRST, peaked(workers, batch_size, tried))
    assert (found.workers, found.workers * found.threads, found.batch_size) == (workers, 2, batch_size)
    assert len(tried) == len(set(tried)) <= 4


def test_a_server_answers_and_its_forsaken_child_is_ended_with_it(tmp_path: Path) -> None:
    port, note = KeptPort(), tmp_path / "child"
    command = [sys.executable, "-m", "tests.support.answering_server", str(port.number), "0.0", str(note)]
    with running(command, f"http://127.0.0.1:{port.number}", tmp_path / "log") as url:
        assert httpx.post(f"{url}/extract", json={"text": "abc"}, timeout=60.0).json()["documents"][0]["entities"]
        child = int(note.read_text())
        assert lives(child)
    wait_until(lambda: not lives(child))


def test_a_server_that_ends_at_once_says_why(tmp_path: Path) -> None:
    port, command = KeptPort(), [sys.executable, "-c", "raise SystemExit('no such model')"]
    with (
        pytest.raises(SystemExit, match="no such model"),
        running(command, f"http://127.0.0.1:{port.number}", tmp_path / "log"),
    ):
        pass
