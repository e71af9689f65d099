"""PID 1 of the container: starts the engine, the front workers and the publisher, watches them, passes signals on.

Owns lives, and nothing else: it never touches HTTP or torch.

    engine dies            → start it again; the workers submit once more what was pending
    third death in 60 s    → end the service with exit code 1: a new container may fare better
    engine says "unusable" → end the service with exit code 1: starting again would not help
    engine says "GPU lost" → let the front answer what it was asked, then end with exit code 1, for replacement
    front workers die      → end the service with exit code 1 (gunicorn itself restarts single workers)
    publisher dies         → start it again, not more often than every 10 s; the service never ends over its figures
    SIGTERM, SIGINT        → SIGTERM to the engine, which drains; once it has left, SIGTERM to all others; exit 0
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from service.core.lifecycle.restart_limit import RestartLimit
from service.metrics.exposition import forget_process
from service.process import EXIT_DEVICE_LOST, EXIT_UNUSABLE
from service.settings import Settings, child_environment

FRONT_STOP_SECONDS = 10.0
PUBLISHER_STOP_SECONDS = 5.0
PUBLISHER_REST_SECONDS = 10.0
SLACK_SECONDS = 5.0
WATCHED = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)

log = logging.getLogger(__name__)


class Supervisor:
    """The life of one service."""

    def __init__(self, settings: Settings, flags: dict[str, str]) -> None:
        self._settings = settings
        self._flags = flags
        self._runtime_dir = Path(settings.runtime_dir or tempfile.mkdtemp(prefix="gleaner-"))
        self._lives = RestartLimit()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._publisher_rests_until = 0.0

    def run(self) -> int:
        """Serve until told to stop; returns the exit code."""
        signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
        (self._runtime_dir / "metrics").mkdir(parents=True, exist_ok=True)
        try:
            self._start("engine")
            self._start("api")
            self._keep_publishing()
            return self._watch()
        finally:
            self._kill_all()
            if self._settings.runtime_dir is None:
                shutil.rmtree(self._runtime_dir, ignore_errors=True)

    def _watch(self) -> int:
        while True:
            received = signal.sigtimedwait(WATCHED, 1.0)
            if received is not None and received.si_signo != signal.SIGCHLD:
                return self._drain()
            _reap_orphans({process.pid for process in self._processes.values()})
            if (code := self._processes["api"].poll()) is not None:
                log.error("the front workers ended", extra={"exit_code": code})
                return 1
            if (code := self._processes["engine"].poll()) is not None and not self._revive_engine(code):
                return 1
            self._keep_publishing()

    def _keep_publishing(self) -> None:
        """See to it that the publisher runs, if one is wanted."""
        if self._settings.cloudwatch_namespace is None or time.monotonic() < self._publisher_rests_until:
            return
        publisher = self._processes.get("publisher")
        if publisher is not None:
            if publisher.poll() is None:
                return
            log.error("the publisher died", extra={"exit_code": publisher.returncode})
            forget_process(publisher.pid, self._runtime_dir / "metrics")
        self._publisher_rests_until = time.monotonic() + PUBLISHER_REST_SECONDS
        self._start("publisher")

    def _revive_engine(self, exit_code: int) -> bool:
        forget_process(self._processes["engine"].pid, self._runtime_dir / "metrics")
        if exit_code == EXIT_UNUSABLE:
            log.error("the engine cannot serve; see its last lines")
            return False
        if exit_code == EXIT_DEVICE_LOST:
            log.error("the GPU is lost; the service ends for replacement")
            self._stop_others()
            return False
        log.error("the engine died", extra={"exit_code": exit_code})
        if not self._lives.may_live_again(time.monotonic()):
            log.error("the engine died too often; giving up")
            return False
        self._start("engine")
        return True

    def _drain(self) -> int:
        log.info("draining")
        patience = self._settings.drain_grace_seconds + self._settings.drain_seconds + SLACK_SECONDS
        end = time.monotonic() + patience
        self._signal("engine", signal.SIGTERM)
        while (code := self._wait("engine", end - time.monotonic())) not in (0, None):
            if code in (EXIT_UNUSABLE, EXIT_DEVICE_LOST) or not self._revive_engine(code):
                break
            self._signal("engine", signal.SIGTERM)
        self._stop_others()
        log.info("drained", extra={"engine_exit_code": code})
        return 0 if code == 0 else 1

    def _stop_others(self) -> None:
        """Once the engine has left: what the front workers are answering, they may finish."""
        for part in self._processes.keys() - {"engine"}:
            self._signal(part, signal.SIGTERM)
        self._wait("api", FRONT_STOP_SECONDS)
        if "publisher" in self._processes:
            self._wait("publisher", PUBLISHER_STOP_SECONDS)

    def _start(self, part: str) -> None:
        environment = child_environment(self._runtime_dir, **self._flags)
        command = [sys.executable, "-m", f"service.{part}"]
        self._processes[part] = subprocess.Popen(
            command, env=environment, start_new_session=True, preexec_fn=_FIRST_MASK.get(part, _unblock_signals)
        )
        log.info("started", extra={"part": part, "child": self._processes[part].pid})

    def _signal(self, part: str, number: signal.Signals) -> None:
        if self._processes[part].poll() is None:
            self._processes[part].send_signal(number)

    def _wait(self, part: str, seconds: float) -> int | None:
        """The part's exit code, or None when it has not ended in time."""
        try:
            return self._processes[part].wait(max(seconds, 0.0))
        except subprocess.TimeoutExpired:
            log.error("did not stop in time", extra={"part": part})
            return None

    def _kill_all(self) -> None:
        for process in self._processes.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _reap_orphans(ours: set[int]) -> None:
    """Reap orphans that came to us because we are PID 1; our own children are left to their Popen."""
    while (dead := _waiting_child()) is not None and dead not in ours:
        os.waitpid(dead, os.WNOHANG)


def _waiting_child() -> int | None:
    try:
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return found.si_pid if found else None


def _unblock_signals() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, WATCHED)


def _unblock_all_but_term() -> None:
    """The engine takes SIGTERM once it has a handler: one that is told to stop while it starts must not die of it."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, set(WATCHED) - {signal.SIGTERM})


_FIRST_MASK = {"engine": _unblock_all_but_term}
