"""The launcher of `gleaner serve`: a process on a free port, its output in a log file, ready when /readyz says so.

Used by the load test, the benchmarks, the rehearsal and the tests.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import httpx

from loadtest.errors import Unreachable
from loadtest.service_process.ports import KeptPort
from loadtest.telemetry.process_usage import processes_running

START_SECONDS = 300.0
STOP_SECONDS = 90.0
POLL_SECONDS = 0.02
PREFIX = "GLEANER_"
QUIET_LIBRARIES = {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}


class ServiceProcess:
    """One `gleaner serve`; its context begins when it is ready and ends when it has stopped."""

    def __init__(self, log: Path, environment: Mapping[str, str]) -> None:
        self._port = KeptPort()
        self.port = self._port.number
        self.url = f"http://127.0.0.1:{self.port}"
        self.started_at = time.monotonic()
        self.start_seconds = 0.0
        self.log = log
        with log.open("ab") as sink:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "service.cli", "serve"],
                env={**environment, f"{PREFIX}PORT": str(self.port)},
                stderr=sink,
                stdout=sink,
            )

    def __enter__(self) -> ServiceProcess:
        try:
            self.wait_until_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def wait_until_ready(self) -> None:
        """Return when it serves.

        Raises:
            Unreachable: the process ended, or `START_SECONDS` have passed.
        """
        while time.monotonic() < self.started_at + START_SECONDS:
            if self.process.poll() is not None:
                raise Unreachable(f"the service ended during its start; its last lines:\n{self.last_lines()}")
            if is_ready(self.url):
                self.start_seconds = time.monotonic() - self.started_at
                return
            time.sleep(POLL_SECONDS)
        raise Unreachable(f"the service was not ready within {START_SECONDS:.0f} s; its log is {self.log}")

    def last_lines(self) -> str:
        """The end of its log."""
        return self.log.read_text(errors="replace")[-3000:]

    def kill_engine(self) -> None:
        """SIGKILL to the engine, as by the kernel's out-of-memory killer."""
        for process in processes_running("service.engine", self.process.pid):
            process.kill()

    def stop(self, seconds: float = STOP_SECONDS) -> int:
        """SIGTERM, then SIGKILL if the drain takes longer than `seconds`; returns the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.process.kill()
        return self.process.wait()


def is_ready(url: str) -> bool:
    """True when the service at `url` answers /readyz with 200."""
    try:  # Without `verify=False` httpx would read the machine's certificates for each call, 20 ms of a core.
        return httpx.get(f"{url}/readyz", timeout=5.0, verify=False).status_code == 200
    except httpx.HTTPError:
        return False


def clean_environment() -> dict[str, str]:
    """This process's environment without settings of the service, and with quiet libraries."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    return {**kept, **QUIET_LIBRARIES}


def settings_environment(settings: Mapping[str, object]) -> dict[str, str]:
    """Environment variables of the service's settings, given without their prefix."""
    return {f"{PREFIX}{name}": str(value) for name, value in settings.items()}
