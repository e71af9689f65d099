"""Usage of process trees, measured on real processes."""

from __future__ import annotations

import http.server
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from infra.image.check import free_port
from loadtest.errors import Unreachable
from loadtest.service_process import (
    KeptPort,
    ServiceProcess,
    clean_environment,
    process_tree,
    processes_running,
    settings_environment,
    usage,
)
from tests.support.processes import lives

HOLDS_MEMORY = "held = bytearray(64 << 20); held[:] = b'x' * len(held); print(flush=True); input()"


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A Python process that has printed a line and waits."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, *arguments], stdin=pipe, stdout=pipe) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


def test_a_tree_is_a_process_and_its_descendants() -> None:
    with running("-c", HOLDS_MEMORY) as child:
        assert child.pid in [process.pid for process in process_tree(os.getpid())]
        found = usage(child.pid)
    assert found.processes == 1
    assert found.open_files >= 3
    assert found.memory_bytes > 64 << 20
    assert found.cpu_seconds > 0


def test_processes_are_found_by_the_module_that_they_run() -> None:
    with running("-m", "tests.support.null_server") as server:
        found = processes_running("tests.support.null_server", os.getpid())
        assert [process.pid for process in found] == [server.pid]
        assert processes_running("loadtest.bench.generator", os.getpid()) == []


MANY = 500


def test_who_asks_for_any_port_is_given_no_kept_one() -> None:
    kept = [KeptPort() for _ in range(MANY)]
    numbers = {port.number for port in kept}
    assert len(numbers) == MANY
    assert numbers.isdisjoint(free_port() for _ in range(10 * MANY))


def test_a_kept_port_is_free_for_the_server_that_asks_for_it() -> None:
    port = KeptPort()
    address = ("127.0.0.1", port.number)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address)
    with (
        http.server.HTTPServer(address, http.server.BaseHTTPRequestHandler),
        socket.create_connection(address) as caller,
    ):
        assert caller.getpeername() == address


def test_it_is_given_back_when_nobody_holds_it() -> None:
    port = KeptPort()
    address = ("127.0.0.1", port.number)
    with socket.socket() as another, pytest.raises(OSError, match="in use"):
        another.bind(address)
    del port
    with socket.socket() as another:
        another.bind(address)


Launch = Callable[[str], ServiceProcess]
SERVICE = """
import http.server, os, signal, sys, time
if os.environ["GLEANER_MODE"] == "broken":
    sys.exit("no such model")
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/readyz" else 404)
        self.end_headers()
def end(*_):
    print("draining", flush=True)
    time.sleep(60 if os.environ["GLEANER_MODE"] == "stuck" else 0)
    os._exit(0)
signal.signal(signal.SIGTERM, end)
http.server.HTTPServer(("127.0.0.1", int(os.environ["GLEANER_PORT"])), Handler).serve_forever()
"""


@pytest.fixture
def launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Launch:
    """Launch a stand-in for the service in a mode of its own."""
    package = tmp_path / "service"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "cli.py").write_text(SERVICE)
    monkeypatch.chdir(tmp_path)  # `python -m` looks for modules here first.

    def start(mode: str) -> ServiceProcess:
        return ServiceProcess(tmp_path / "log", {**clean_environment(), **settings_environment({"MODE": mode})})

    return start


def test_a_context_begins_when_ready_and_ends_when_stopped(launch: Launch) -> None:
    with launch("good") as service:
        assert 0 < service.start_seconds < 60
        assert service.url.endswith(str(service.port))
        assert lives(service.process.pid)
    assert service.process.returncode == 0
    assert service.last_lines().endswith("\ndraining\n")


def test_a_service_that_ends_during_its_start_is_unreachable(launch: Launch) -> None:
    with pytest.raises(Unreachable, match="no such model"), launch("broken"):
        pass


def test_a_service_that_does_not_stop_in_time_is_killed(launch: Launch) -> None:
    service = launch("stuck")
    service.wait_until_ready()
    began = time.monotonic()
    assert service.stop(0.3) == -signal.SIGKILL
    assert time.monotonic() - began < 45
    assert service.stop() == -signal.SIGKILL, "stopping an ended service is no error"


def test_a_service_that_is_not_ready_in_time_is_unreachable(launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loadtest.service_process.START_SECONDS", 0.0)
    with pytest.raises(Unreachable, match="not ready within"), launch("good"):
        pass
