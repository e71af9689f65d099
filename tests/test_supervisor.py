"""The supervisor: heartbeats through a real pipe with a clock moved by hand, and processes that die."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from service.logs import LogEvent
from service.process import START_SILENCE_SECONDS, EngineWatchdog, is_traced, send_heartbeat
from service.runtime_folder import _is_apart
from service.settings import read_settings
from service.supervisor import POLL_SECONDS, address_lines
from tests.support.processes import inherited, lives
from tests.support.service import Service, paused, start, wait_until

LIMIT_SECONDS = 20.0


class Watched:
    """A watch, and the engine's end of its pipe."""

    def __init__(self, limit_seconds: float) -> None:
        self.watch = EngineWatchdog(limit_seconds)
        self.now = 100.0
        self.watch.is_stuck(self.now)

    def beat(self, *, serves: bool = True) -> None:
        send_heartbeat(self.watch.writer, serves)

    def stuck_after(self, seconds: float) -> bool:
        """Whether it counts as stuck after so many turns of a second."""
        found = False
        for _ in range(int(seconds)):
            self.now += 1.0
            found = self.watch.is_stuck(self.now)
        return found

    def close(self) -> None:
        self.watch.close()
        with suppress(OSError):
            os.close(self.watch.writer)


@pytest.fixture
def watched() -> Iterator[Watched]:
    made = Watched(LIMIT_SECONDS)
    yield made
    made.close()


def test_an_engine_that_served_is_stuck_after_its_limit(watched: Watched) -> None:
    watched.beat()
    assert not watched.stuck_after(LIMIT_SECONDS)
    watched.beat()
    assert not watched.stuck_after(LIMIT_SECONDS)
    assert watched.stuck_after(2)


def test_an_engine_that_loads_has_more_time(watched: Watched) -> None:
    watched.beat(serves=False)
    assert not watched.stuck_after(START_SILENCE_SECONDS)
    assert watched.stuck_after(2)


def test_a_pause_of_the_supervisor_itself_is_no_silence(watched: Watched) -> None:
    watched.beat()
    watched.stuck_after(LIMIT_SECONDS - 5)
    watched.now += 3_600.0
    assert not watched.watch.is_stuck(watched.now)


def test_an_engine_that_was_excused_has_its_time_again(watched: Watched) -> None:
    watched.beat()
    assert watched.stuck_after(LIMIT_SECONDS + 2)
    watched.watch.excuse()
    assert not watched.stuck_after(LIMIT_SECONDS)
    assert watched.stuck_after(2)


def test_heartbeats_that_nobody_reads_block_nobody(watched: Watched) -> None:
    for _ in range(100_000):
        watched.beat()
    assert not watched.stuck_after(1)
    watched.watch.started()  # Both ends are closed now, as when the supervisor has died.
    send_heartbeat(None, serves=True)


def test_a_process_that_nobody_debugs_is_not_traced() -> None:
    assert not is_traced(os.getpid())
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
        assert not is_traced(ended.pid)


TRACED = "import ctypes, time; ctypes.CDLL(None).ptrace(0, 0, 0, 0); print(flush=True); time.sleep(600)"


@pytest.mark.skipif(sys.platform != "linux", reason="ptrace")
def test_a_process_that_a_debugger_holds_is_traced() -> None:
    with subprocess.Popen([sys.executable, "-c", TRACED], stdout=subprocess.PIPE) as traced:
        assert traced.stdout is not None
        traced.stdout.readline()
        assert is_traced(traced.pid)
        traced.kill()


END_SECONDS = 150.0
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


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGHUP])
def test_a_stop_before_it_was_ready_is_a_clean_end(tmp_path: Path, stop: signal.Signals) -> None:
    """SIGTERM: the test of the runtime folder."""
    with inherited(signal.SIGHUP, signal.SIG_DFL), service(tmp_path) as (running, parts):
        wait_until(lambda: running.phase() != "unreachable")
        running.process.send_signal(stop)
        assert running.process.wait(END_SECONDS) == 0
        assert_gone(parts)


def test_signals_of_others_and_under_nohup_of_its_terminal_end_nothing(tmp_path: Path) -> None:
    """It neither dies of them nor drains: it lives to say that its workers were killed after them."""
    with inherited(signal.SIGHUP, signal.SIG_IGN), service(tmp_path) as (running, parts):
        for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH, signal.SIGHUP):
            running.process.send_signal(number)
        os.kill(parts[1], signal.SIGKILL)
        assert running.process.wait(END_SECONDS) == 1
        events = running.events()
        assert LogEvent.WORKERS_ENDED in events
        assert LogEvent.DRAIN_STARTED not in events


def test_the_runtime_folder_is_apart_and_removed_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"host": "127.0.0.1", "port": 8341}, ["console http://127.0.0.1:8341/ ", "http://127.0.0.1:8341/docs"]),
        ({"host": "0.0.0.0", "port": 8341, "internal_port": 8342}, ["http://127.0.0.1:8342/docs"]),
        ({"host": "::", "port": 8341}, ["http://[::1]:8341/docs"]),
    ],
)
def test_a_person_is_told_the_address(settings: dict[str, object], words: list[str]) -> None:
    told = address_lines(read_settings(**settings))
    assert len(told) == 2
    assert all(word in "\n".join(told) for word in [*words, "Ctrl-C stops it"])
    assert "console" not in address_lines(read_settings(**settings, console="off"))[0]
