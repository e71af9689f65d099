"""Supervisor, PID 1 of the container: starts and restarts the service's processes and passes signals on to them.

It never touches HTTP or torch.

    engine dies                   → start it again; the workers submit pending documents again
    engine is silent              → kill it: it is stopped or stuck, and its successor takes over what is pending
    third death in 60 s           → end the service with exit code 1: a new container may fare better
    engine exits with UNUSABLE    → end the service with exit code 1: starting again would not help
    engine exits with DEVICE_LOST → let the API workers finish their requests, then end with exit code 1
    API workers die               → end the service with exit code 1: gunicorn replaces single workers, and ends when
                                    too many of them die within a minute
    publisher or bulk dies        → start it again, at most every 10 s; the service never ends because of it
    SIGTERM, SIGINT, SIGHUP       → SIGTERM to bulk, and to the engine, which drains; then to all others; exit 0
    SIGUSR1, SIGUSR2              → nothing; SIGHUP likewise under `nohup`
"""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

from service.core.liveness import RestartLimit
from service.environment import ANY_ADDRESS, HEARTBEAT_VARIABLE, address_of, child_environment
from service.logs import LogEvent
from service.metrics.prometheus import forget_process
from service.process import EXIT_DEVICE_LOST, EXIT_UNUSABLE, FINAL_EXITS, EngineWatchdog, end_of, is_traced
from service.runtime_folder import runtime_folder
from service.settings import Settings

WORKERS_STOP_SECONDS = 10.0
HELPER_STOP_SECONDS = 5.0
HELPER_RESTART_SECONDS = 10.0
"""Least seconds between two starts of the publisher, or of the bulk process."""
SLACK_SECONDS = 5.0
"""Seconds beyond its own limits that the engine may take to drain."""
KILL_SECONDS = 10.0
"""Seconds for a process to end after SIGKILL: at once, unless a driver holds it."""
POLL_SECONDS = 1.0
"""Most seconds of waiting for a signal before the processes are checked."""
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
HANDLED_SIGNALS = (*STOP_SIGNALS, signal.SIGCHLD)
IGNORED_SIGNALS = (signal.SIGUSR1, signal.SIGUSR2)

HELPER_DIED = {"publisher": LogEvent.PUBLISHER_DIED, "bulk": LogEvent.BULK_DIED}
"""Log event for the death of each process that no request needs."""

log = logging.getLogger(__name__)


def address_lines(settings: Settings) -> list[str]:
    """Write the lines that tell a person of a ready service: its console, its documentation, and how it ends."""
    scheme = "http" if settings.tls_certificate is None else "https"
    host = ANY_ADDRESS.get(settings.host, settings.host)
    at = f"{scheme}://{address_of(host, settings.port)}"
    docs = f"{scheme}://{address_of(host, settings.internal_port or settings.port)}/docs"
    page = "" if settings.console == "off" else f"console {at}/  "
    return [f"Gleaner is ready:  {page}extract {at}/extract", f"All routes: {docs}  Ctrl-C stops it."]


class Supervisor:
    """Runs the processes of one service: engine, API workers (`api`), and publisher and bulk process if set."""

    def __init__(self, settings: Settings, flags: dict[str, str]) -> None:
        self._settings = settings
        self._flags = flags
        self._runtime_dir = Path()
        self._restart_limit = RestartLimit()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        wanted = {"publisher": settings.cloudwatch_namespace, "bulk": settings.bulk_queue}
        self._helper_start_seconds = {part: 0.0 for part, place in wanted.items() if place}
        self._watch: EngineWatchdog | None = None
        self._address_said = False
        self._bulk_key = secrets.token_urlsafe(32)
        self._handled = set(HANDLED_SIGNALS)

    def run(self) -> int:
        """Serve until a signal or a failure ends the service; returns the exit code."""
        if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # By `nohup`; once blocked it would come all the same.
            self._handled.discard(signal.SIGHUP)
        signal.pthread_sigmask(signal.SIG_BLOCK, self._handled)
        for number in IGNORED_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        if signal.sigpending() & set(STOP_SIGNALS):
            log.info("stopped before anything was started")
            return 0
        with runtime_folder(self._settings.runtime_dir) as self._runtime_dir:
            try:
                self._start_engine()
                self._start("api")
                self._ensure_helpers()
                return self._supervise()
            finally:
                self._kill_all()

    def _supervise(self) -> int:
        while True:
            received = signal.sigtimedwait(self._handled, POLL_SECONDS)
            # Not `!= SIGCHLD`: after a SIGSTOP that outlasts the wait, CPython returns an uninitialized siginfo.
            if received is not None and received.si_signo in STOP_SIGNALS:
                return self._drain()
            _reap_orphans({process.pid for process in self._processes.values()})
            if (code := self._processes["api"].poll()) is not None:
                fields = {"event": LogEvent.WORKERS_ENDED, "exit_code": code}
                log.error("the API workers ended: %s", end_of(code), extra=fields)
                return 1
            if not self._kill_stuck_engine():
                return 1
            if (code := self._processes["engine"].poll()) is not None and not self._restart_engine(code):
                return 1
            self._ensure_helpers()
            self._say_address()

    def _say_address(self) -> None:
        """Print the addresses of the service, once, at a terminal."""
        if self._address_said or self._watch is None or not self._watch.serves:
            return
        self._address_said = True
        if sys.stderr.isatty():
            print("\n".join(address_lines(self._settings)), file=sys.stderr, flush=True)

    def _ensure_helpers(self) -> None:
        """Start publisher and bulk process, if the settings ask for them and they do not run."""
        for part, start_seconds in self._helper_start_seconds.items():
            helper = self._processes.get(part)
            if time.monotonic() < start_seconds or (helper is not None and helper.poll() is None):
                continue
            if helper is not None:
                fields = {"event": HELPER_DIED[part], "exit_code": helper.returncode}
                log.error("the %s process died: %s", part, end_of(helper.returncode), extra=fields)
                forget_process(helper.pid, self._runtime_dir / "metrics")
            self._helper_start_seconds[part] = time.monotonic() + HELPER_RESTART_SECONDS
            self._start(part)

    def _restart_engine(self, exit_code: int) -> bool:
        """Start a new engine after one ended; returns False when the service must end instead."""
        forget_process(self._processes["engine"].pid, self._runtime_dir / "metrics")
        if exit_code == EXIT_UNUSABLE:
            log.error("the engine cannot serve; see its last lines", extra={"event": LogEvent.ENGINE_UNUSABLE})
            return False
        if exit_code == EXIT_DEVICE_LOST:
            log.error("the GPU is lost; the service ends for replacement", extra={"event": LogEvent.GPU_LOST})
            self._stop_others()
            return False
        fields = {"event": LogEvent.ENGINE_DIED, "exit_code": exit_code}
        log.error("the engine died: %s", end_of(exit_code), extra=fields)
        if not self._restart_limit.allows(time.monotonic()):
            log.error("the engine died too often; giving up", extra={"event": LogEvent.ENGINE_RESTART_LIMIT})
            return False
        self._start_engine()
        return True

    def _kill_stuck_engine(self) -> bool:
        """Kill an engine that has been silent for too long; returns False when it does not end even then."""
        engine = self._processes["engine"]
        if self._watch is None or not self._watch.is_stuck(time.monotonic()) or engine.poll() is not None:
            return True
        if is_traced(engine.pid):
            self._watch.excuse()
            return True
        fields = {"event": LogEvent.ENGINE_STUCK, "silent_seconds": round(self._watch.silent_seconds(time.monotonic()))}
        log.error("the engine is stopped or stuck, and is killed", extra=fields)
        os.killpg(engine.pid, signal.SIGKILL)
        try:
            engine.wait(KILL_SECONDS)
        except subprocess.TimeoutExpired:
            log.error("the engine cannot be killed", extra={"event": LogEvent.ENGINE_NOT_KILLED})
            return False
        return True

    def _drain(self) -> int:
        log.info("a signal asked to stop: draining", extra={"event": LogEvent.DRAIN_STARTED})
        limit = self._settings.drain_grace_seconds + self._settings.drain_seconds + SLACK_SECONDS
        end = time.monotonic() + limit
        if "bulk" in self._processes:
            self._signal("bulk", signal.SIGTERM)  # Others take its chunks while the engine drains.
        self._signal("engine", signal.SIGTERM)
        while (code := self._wait_for_drain(end)) not in (0, None):
            if code in FINAL_EXITS or not self._restart_engine(code):
                break
            self._signal("engine", signal.SIGTERM)
        self._stop_others()
        log.info("drained", extra={"event": LogEvent.DRAIN_ENDED, "engine_exit_code": code})
        return 0 if code == 0 else 1

    def _wait_for_drain(self, end: float) -> int | None:
        """Wait for the engine as `_wait`; a stuck one is killed meanwhile."""
        while (left := end - time.monotonic()) > POLL_SECONDS:
            try:
                return self._processes["engine"].wait(POLL_SECONDS)
            except subprocess.TimeoutExpired:
                if not self._kill_stuck_engine():
                    return None
        return self._wait("engine", left)

    def _stop_others(self) -> None:
        """Stop all but the engine, which has ended; the API workers finish the requests they are answering."""
        for part in self._processes.keys() - {"engine"}:
            self._signal(part, signal.SIGTERM)
        self._wait("api", WORKERS_STOP_SECONDS)
        for part in self._processes.keys() & self._helper_start_seconds.keys():
            self._wait(part, HELPER_STOP_SECONDS)

    def _start_engine(self) -> None:
        if self._watch is not None:
            self._watch.close()
        self._watch = EngineWatchdog(self._settings.engine_silence_seconds)
        self._start("engine", heartbeats=self._watch.writer)
        self._watch.started()

    def _start(self, part: str, *, heartbeats: int | None = None) -> None:
        environment = child_environment(self._runtime_dir, **self._flags, **self._keys(part))
        inherited: tuple[int, ...] = ()
        if heartbeats is not None:
            environment, inherited = {**environment, HEARTBEAT_VARIABLE: str(heartbeats)}, (heartbeats,)
        command = [sys.executable, "-m", f"service.{part}"]
        unblock = _UNBLOCK.get(part, _unblock_signals)
        # A process group, not a session: the kernel weighs `nice` only within a session (sched_autogroup_enabled).
        self._processes[part] = subprocess.Popen(
            command, env=environment, process_group=0, preexec_fn=unblock, pass_fds=inherited
        )
        child = self._processes[part].pid
        log.info("started", extra={"event": LogEvent.PROCESS_STARTED, "part": part, "child": child})

    def _keys(self, part: str) -> dict[str, str]:
        """Make the keys with which the bulk process asks the API as client `bulk`, where keys are needed."""
        settings = self._settings
        if "bulk" not in self._helper_start_seconds or not (settings.api_keys_file or settings.api_keys):
            return {}
        line = f"bulk {hashlib.sha256(self._bulk_key.encode()).hexdigest()}"
        by_part = {"api": {"API_KEYS": f"{settings.api_keys}\n{line}"}, "bulk": {"BULK_KEY": self._bulk_key}}
        return by_part.get(part, {})

    def _signal(self, part: str, number: signal.Signals) -> None:
        if self._processes[part].poll() is None:
            self._processes[part].send_signal(number)

    def _wait(self, part: str, seconds: float) -> int | None:
        """Wait for a process to end; returns its exit code, or None after a timeout."""
        try:
            return self._processes[part].wait(max(seconds, 0.0))
        except subprocess.TimeoutExpired:
            log.error("did not stop in time", extra={"event": LogEvent.PROCESS_STOP_TIMEOUT, "part": part})
            return None

    def _kill_all(self) -> None:
        for process in self._processes.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        for part in self._processes:
            self._wait(part, KILL_SECONDS)


def _reap_orphans(ours: set[int]) -> None:
    """Reap processes that PID 1 inherited; those in `ours` are left to their Popen objects."""
    while (dead := _dead_child()) is not None and dead not in ours:
        os.waitpid(dead, os.WNOHANG)


def _dead_child() -> int | None:
    try:
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return found.si_pid if found else None


def _unblock_signals() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, HANDLED_SIGNALS)


def _unblock_all_but_term() -> None:
    """Leave SIGTERM blocked in the engine until its handler is there: a stop during the start must not kill it."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, set(HANDLED_SIGNALS) - {signal.SIGTERM})


_UNBLOCK = {"engine": _unblock_all_but_term}
