"""The supervisor's own ends; what requests notice of deaths and drains is in tests/system."""

from __future__ import annotations

import os
import signal
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from service.logs import LogEvent
from service.runtime_folder import _is_apart
from service.supervisor import POLL_SECONDS
from tests.support.processes import lives
from tests.support.service import Service, paused, start, wait_until

END_SECONDS = 60.0
"""An engine that is told to stop while it starts first imports all that it needs."""


@contextmanager
def service(folder: Path, **settings: object) -> Iterator[tuple[Service, list[int]]]:
    """A service whose parts have just been started, and their process ids; it need not become ready."""
    with start(folder, RUNTIME_DIR=folder / "run", **settings) as service:
        parts: list[int] = []

        def have_started() -> bool:
            assert service.process.poll() is None, service.log.read_text()
            parts[:] = [part for name in ("engine", "api") if (part := service.find(name)) is not None]
            return len(parts) == 2

        wait_until(have_started)
        yield service, parts


def assert_gone(parts: list[int]) -> None:
    wait_until(lambda: not any(lives(part) for part in parts), seconds=END_SECONDS)


def test_the_end_of_the_front_workers_ends_service_and_engine(tmp_path: Path) -> None:
    with service(tmp_path) as (running, parts):
        os.kill(parts[1], signal.SIGKILL)
        assert running.process.wait(END_SECONDS) == 1
        assert_gone(parts)
        assert LogEvent.WORKERS_ENDED in running.events()


def test_a_supervisor_that_was_suspended_goes_on(tmp_path: Path) -> None:
    with service(tmp_path) as (running, parts):
        with paused(running.process.pid):
            time.sleep(1.5 * POLL_SECONDS)  # Its wait for a signal is over when it goes on.
        os.kill(parts[1], signal.SIGKILL)
        assert running.process.wait(END_SECONDS) == 1
        events = running.events()
        assert LogEvent.WORKERS_ENDED in events
        assert LogEvent.DRAIN_STARTED not in events


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_before_it_was_ready_is_a_clean_end(tmp_path: Path, stop: signal.Signals) -> None:
    with service(tmp_path) as (running, parts):
        wait_until(lambda: running.phase() != "unreachable")
        running.process.send_signal(stop)
        assert running.process.wait(END_SECONDS) == 0
        assert_gone(parts)


def test_the_folder_of_sockets_and_metrics_is_apart_from_temporary_files_and_removed_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    with start(tmp_path) as running:
        wait_until(lambda: running.phase() != "unreachable")
        folder = runtime_folder_of(running.child("engine"))
        assert (folder / "engine").is_socket()
        assert folder.parent != temporary or not _is_apart(Path("/dev/shm"))
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert running.stop() == 0
    assert not folder.exists()
    assert list(temporary.iterdir()) == []


def runtime_folder_of(process: int) -> Path:
    """As the process was told by its environment."""
    variables = Path(f"/proc/{process}/environ").read_text().split("\0")
    return Path(dict(each.split("=", 1) for each in variables if "=" in each)["GLEANER_RUNTIME_DIR"])
