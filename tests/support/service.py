"""A real service for a test: `gleaner serve` as a process, on a free port of the loopback, with a store of its own."""

from __future__ import annotations

import http.client
import json
import os
import signal
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from loadtest.service_process import PREFIX, ServiceProcess, settings_environment
from tests.support.log_lines import events
from tests.support.processes import children_of, command_of

START_SECONDS = 480.0
CLOSE_SECONDS = 60.0
CHILD_SECONDS = 60.0
POLL_SECONDS, MOST_POLL_SECONDS = 0.02, 0.2
POLL_SHARE = 0.05
"""Share of the time waited so far that passes between two questions: they cost the processor that the answer needs."""
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For callers of plain HTTP: httpx would read all certificates of the machine for each client, 20 ms of a core."""


def wait_until(holds: Callable[[], bool], seconds: float = 150.0) -> None:
    """Wait for a condition; fail when it does not come true in time."""
    begun = time.monotonic()
    while not holds():
        waited = time.monotonic() - begun
        assert waited < seconds, f"{holds} did not come true within {seconds} s"
        time.sleep(min(max(POLL_SECONDS, POLL_SHARE * waited), MOST_POLL_SECONDS))


class Service:
    """One `gleaner serve`."""

    def __init__(self, launched: ServiceProcess) -> None:
        self._launched = launched
        self.process = launched.process
        self.url = launched.url
        self.log = launched.log

    def client(self, **options: float) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=options.get("timeout", 120.0), verify=PLAIN)

    def get(self, path: str, *, timeout: float = 120.0) -> httpx.Response:
        """One GET, over a connection of its own."""
        return httpx.get(self.url + path, timeout=timeout, verify=PLAIN)

    def extract(self, *, timeout: float = 240.0, **body: Any) -> httpx.Response:
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

    def let_in(self, *, timeout: float = 180.0, **body: Any) -> Callable[[], httpx.Response]:
        """A JSON request that has been let in: the service has asked for its body, which a call of the result sends."""
        caller = http.client.HTTPConnection(self.url.removeprefix("http://"), timeout=timeout)
        content = json.dumps(body).encode()
        caller.putrequest("POST", "/extract")
        for name, value in (("Content-Length", str(len(content))), ("Expect", "100-continue")):
            caller.putheader(name, value)
        caller.putheader("Content-Type", "application/json")
        caller.endheaders()
        with caller.sock.makefile("rb", buffering=0) as source:
            said = source.readline() + source.readline()
        assert said == b"HTTP/1.1 100 Continue\r\n\r\n", said

        def answer() -> httpx.Response:
            with closing(caller):
                caller.send(content)
                came = caller.getresponse()
                return httpx.Response(came.status, headers=came.getheaders(), content=came.read())

        return answer

    def find(self, part: str) -> int | None:
        """The process id of a part among the supervisor's children, if it runs."""
        with suppress(FileNotFoundError):  # The supervisor itself may have ended.
            for child in children_of(self.process.pid):
                if f"service.{part}" in command_of(child):
                    return child
        return None

    def child(self, part: str) -> int:
        """The process id of a part that runs. The kernel's list may lack a child while another one ends: ask again."""
        wait_until(lambda: self.find(part) is not None, CHILD_SECONDS)
        found = self.find(part)
        assert found is not None, f"no {part} is running"
        return found

    def kill_engine(self) -> None:
        os.kill(self.child("engine"), signal.SIGKILL)

    def metric(self, line_start: str) -> float:
        """The sum of the samples that begin like this; 0 if there is none yet."""
        lines = self.get("/metrics").raise_for_status().text.splitlines()
        values = [float(line.rpartition(" ")[2]) for line in lines if line.startswith(line_start)]
        return sum(values)

    def events(self) -> list[str]:
        """The event codes in its log so far."""
        return events(self.log)

    def stop(self) -> int:
        """SIGTERM, and the exit code."""
        return self._launched.stop(CLOSE_SECONDS)


@contextmanager
def paused(process: int) -> Iterator[None]:
    """Meanwhile this process does nothing; of the signals that it is sent, only SIGKILL does not wait."""
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGCONT)


def environment(folder: Path, **settings: object) -> dict[str, str]:
    """This process's environment with the service's settings, none inherited."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    ours = {"DEVICE": "cpu", "MODEL_STORE": folder / "store", "DRAIN_GRACE_SECONDS": 0, **settings}
    return {**kept, **settings_environment(ours)}


@contextmanager
def start(folder: Path, **settings: object) -> Iterator[Service]:
    """A service that may not be ready yet; ended when the context ends."""
    folder.mkdir(parents=True, exist_ok=True)
    launched = ServiceProcess(folder / f"serve-{time.monotonic_ns()}.log", environment(folder, **settings))
    try:
        yield Service(launched)
    finally:
        launched.stop(CLOSE_SECONDS)


@contextmanager
def serving(folder: Path, **settings: object) -> Iterator[Service]:
    """A service that is ready."""
    with start(folder, **settings) as service:
        wait_until(service.is_ready, START_SECONDS)
        yield service
