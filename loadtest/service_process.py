"""Service process: starts `gleaner serve` on a free port with its output in a log file, and measures its processes.

The load test, the benchmarks and the tests use it. It is ready when /readyz answers 200.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil

from loadtest.errors import Unreachable


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """Sums over a process tree. `memory_bytes` is proportional (PSS), so that shared pages count once."""

    processes: int
    memory_bytes: int
    open_files: int
    cpu_seconds: float


def usage(root: int) -> ProcessUsage:
    """The usage of a process tree; a process that ends during the measurement counts as zero."""
    tree = process_tree(root)
    return ProcessUsage(
        processes=len(tree),
        memory_bytes=int(_sum(tree, _memory_bytes)),
        open_files=int(_sum(tree, lambda process: process.num_fds())),
        cpu_seconds=_sum(tree, lambda process: sum(process.cpu_times()[:2])),
    )


def process_tree(root: int) -> list[psutil.Process]:
    """The process with this id and its descendants; empty if it does not exist."""
    with suppress(psutil.Error):
        process = psutil.Process(root)
        return [process, *process.children(recursive=True)]
    return []


def processes_running(module: str, root: int) -> list[psutil.Process]:
    """The processes of a tree that were started by `python -m module`."""
    return [process for process in process_tree(root) if module in _command(process)]


def children_of(process: psutil.Process) -> list[psutil.Process]:
    """The children of a process; none if it has ended."""
    with suppress(psutil.Error):
        return list(process.children())
    return []


def _command(process: psutil.Process) -> list[str]:
    with suppress(psutil.Error):
        return list(process.cmdline())
    return []


def _memory_bytes(process: psutil.Process) -> float:
    """The PSS, which only Linux knows; the RSS of a process that hides its memory, unless this is root."""
    try:
        memory = process.memory_full_info()
    except psutil.AccessDenied:
        return float(process.memory_info().rss)
    return float(getattr(memory, "pss", memory.rss))


def _sum(processes: Iterable[psutil.Process], measure: Callable[[psutil.Process], float]) -> float:
    total = 0.0
    for process in processes:
        with suppress(psutil.Error):
            total += measure(process)
    return total


ENGINE, WORKERS, PARSERS = "service.engine", "service.api", "service.api.parsers.zygote"


@dataclass(frozen=True, slots=True)
class ServiceParts:
    """The processes of the service whose supervisor is `root`, as they are now."""

    root: int

    def engines(self) -> list[int]:
        return [process.pid for process in processes_running(ENGINE, self.root)]

    def workers(self) -> list[int]:
        """The API workers, without the process that started them."""
        found = processes_running(WORKERS, self.root)
        ids = {process.pid for process in found}
        return [child.pid for process in found for child in children_of(process) if child.pid in ids]

    def parsers(self) -> list[int]:
        """The processes that read files, and those that they are forked from."""
        return [process.pid for process in processes_running(PARSERS, self.root)]

    def all(self) -> list[int]:
        return [process.pid for process in process_tree(self.root)]


class KeptPort:
    """A free port of the loopback interface, reserved until this object is garbage-collected."""

    def __init__(self) -> None:
        reservation = socket.socket()
        weakref.finalize(self, reservation.close)
        reservation.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reservation.bind(("127.0.0.1", 0))
        self.number: int = reservation.getsockname()[1]
        if sys.platform != "linux":  # Elsewhere SO_REUSEADDR does not allow the second bind: the port is only free.
            reservation.close()


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
