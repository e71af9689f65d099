"""The front's arbiter: which workers it aborts, and how many deaths it stands."""

from __future__ import annotations

import signal
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from gunicorn.errors import HaltServer
from gunicorn.workers.workertmp import WorkerTmp

from service.api.__main__ import STUCK_SECONDS, GunicornServer
from service.api.arbiter import WorkerArbiter, most_deaths
from service.process import EXIT_RESTART_LIMIT
from service.settings import Settings


class Reports:
    """The file whose time says when a worker last reported."""

    def __init__(self, age_seconds: float) -> None:
        self._reported_seconds = time.monotonic() - age_seconds

    def last_update(self) -> float:
        return self._reported_seconds

    def notify(self) -> None:
        self._reported_seconds = time.monotonic()


class Worker:
    aborted = False

    def __init__(self, age_seconds: float) -> None:
        self.tmp = Reports(age_seconds)


class Arbiter(WorkerArbiter):
    """Notes the signals that it sends."""

    def __init__(self, folder: Path, **ages_seconds: float) -> None:
        super().__init__(GunicornServer(Settings(runtime_dir=folder, workers=1)))
        self.WORKERS = {number: Worker(age) for number, age in enumerate(ages_seconds.values())}
        self.sent: list[tuple[int, signal.Signals]] = []

    def kill_worker(self, pid: int, sig: signal.Signals) -> None:
        self.sent.append((pid, sig))


def test_a_worker_that_has_not_reported_for_too_long_is_aborted_alone(tmp_path: Path) -> None:
    arbiter = Arbiter(tmp_path, stuck=STUCK_SECONDS + 1, busy=STUCK_SECONDS / 2)
    arbiter.murder_workers()
    arbiter.murder_workers()
    assert arbiter.sent == [(0, signal.SIGABRT), (0, signal.SIGKILL)]


def test_after_a_pause_of_the_arbiter_itself_workers_have_their_time_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arbiter = Arbiter(tmp_path, slept_too=STUCK_SECONDS + 1)
    monkeypatch.setattr("service.api.arbiter.PAUSE_SECONDS", 0.01)
    time.sleep(0.02)
    arbiter.murder_workers()
    monkeypatch.setattr("service.api.arbiter.PAUSE_SECONDS", 1e9)
    arbiter.murder_workers()
    assert arbiter.sent == []


def test_a_late_arbiter_gives_a_starting_worker_no_time_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a starved machine both are; a report for the worker would have begun its time."""
    arbiter = Arbiter(tmp_path)
    monkeypatch.setattr("service.api.arbiter.PAUSE_SECONDS", -1.0)
    with closing(WorkerTmp(arbiter.cfg)) as starts:
        worker: Any = SimpleNamespace(tmp=starts, aborted=False)
        arbiter.WORKERS = {1: worker}
        unreported = starts.last_update()
        arbiter.murder_workers()
        assert starts.last_update() == unreported
        assert arbiter.sent == []


def test_too_many_deaths_end_the_api_but_not_workers_that_it_stops(tmp_path: Path) -> None:
    arbiter = Arbiter(tmp_path)
    for _ in range(most_deaths(1) - 1):
        arbiter.record_death()
    with pytest.raises(HaltServer) as ended:
        arbiter.record_death()
    assert ended.value.exit_status == EXIT_RESTART_LIMIT
    arbiter.WORKERS = {}
    arbiter.stop()
    arbiter.record_death()


def test_more_workers_may_die_more_often() -> None:
    assert [most_deaths(workers) for workers in (1, 2, 4, 8)] == [6, 6, 12, 24]
