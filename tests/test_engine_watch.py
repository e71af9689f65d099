"""Engine watch: heartbeats through a real pipe, with the supervisor's clock moved by hand."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest

from service.engine_watch import START_SILENCE_SECONDS, EngineWatch, is_traced
from service.process import send_heartbeat

LIMIT_SECONDS = 20.0


class Watched:
    """A watch, and the engine's end of its pipe."""

    def __init__(self, limit_seconds: float) -> None:
        self.watch = EngineWatch(limit_seconds)
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


def test_without_a_limit_no_engine_is_ever_stuck() -> None:
    watched = Watched(0.0)
    watched.beat()
    assert not watched.stuck_after(2 * START_SILENCE_SECONDS)
    watched.close()


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
