"""A real service for a test: `gleaner serve` as a process, on a free port of the loopback, with a store of its own."""

from __future__ import annotations

import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.processes import children_of, command_of

START_SECONDS = 120.0
CLOSE_SECONDS = 60.0
POLL_SECONDS = 0.02
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For callers of plain HTTP: httpx would read all certificates of the machine for each client, 20 ms of a core."""


def wait_until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait for a condition; fail when it does not come true in time."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"{holds} did not come true within {seconds} s"
        time.sleep(POLL_SECONDS)


class Service:
    """One `gleaner serve`."""

    def __init__(self, process: subprocess.Popen[bytes], url: str, log: Path) -> None:
        self.process = process
        self.url = url
        self.log = log

    def client(self, **options: float) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=options.get("timeout", 120.0), verify=PLAIN)

    def get(self, path: str, *, timeout: float = 30.0) -> httpx.Response:
        """One GET, over a connection of its own."""
        return httpx.get(self.url + path, timeout=timeout, verify=PLAIN)

    def extract(self, *, timeout: float = 60.0, **body: Any) -> httpx.Response:
        """One JSON request, over a connection of its own."""
        return httpx.post(self.url + "/extract", json=body, timeout=timeout, verify=PLAIN)

    def phase(self) -> str:
        try:
            return str(self.get("/readyz", timeout=5.0).json()["phase"])
        except httpx.HTTPError:
            return "unreachable"

    def is_ready(self) -> bool:
        assert self.process.poll() is None, f"the service ended:\n{self.log.read_text()[-3000:]}"
        return self.phase() == "ready"

    def child(self, part: str) -> int:
        """The process id of a part, found among the supervisor's children."""
        found = [pid for pid in children_of(self.process.pid) if f"service.{part}" in command_of(pid)]
        assert found, f"no {part} is running"
        return found[0]

    def kill_engine(self) -> None:
        os.kill(self.child("engine"), signal.SIGKILL)

    def metric(self, line_start: str) -> float:
        """The value of the one sample that begins like this; 0 if there is none yet."""
        text = self.get("/metrics").text
        values = [float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(line_start)]
        return sum(values)

    def stop(self) -> int:
        """SIGTERM, and the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(CLOSE_SECONDS)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def environment(folder: Path, **settings: object) -> dict[str, str]:
    """This process's environment with the service's settings, none inherited."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GLEANER_")}
    ours = {"DEVICE": "cpu", "MODEL_STORE": folder / "store", "DRAIN_GRACE_SECONDS": 0, **settings}
    return {**kept, **{f"GLEANER_{name}": str(value) for name, value in ours.items()}}


@contextmanager
def start(folder: Path, **settings: object) -> Iterator[Service]:
    """A service that may not be ready yet; ended when the context ends."""
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    log = folder / f"serve-{port}.log"
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [sys.executable, "-m", "service.cli", "serve"],
            env=environment(folder, PORT=port, **settings),
            stderr=sink,
            stdout=sink,
        )
    try:
        yield Service(process, f"http://127.0.0.1:{port}", log)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(CLOSE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def serving(folder: Path, **settings: object) -> Iterator[Service]:
    """A service that is ready."""
    with start(folder, **settings) as service:
        wait_until(service.is_ready, START_SECONDS)
        yield service
