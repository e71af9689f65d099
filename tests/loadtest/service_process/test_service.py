"""The launcher of `gleaner serve`, on stand-ins for the service that start at once."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from loadtest.errors import Unreachable
from loadtest.service_process.service import ServiceProcess, clean_environment, settings_environment
from tests.support.processes import lives

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
    assert time.monotonic() - began < 10
    assert service.stop() == -signal.SIGKILL, "stopping an ended service is no error"


def test_a_service_that_is_not_ready_in_time_is_unreachable(launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loadtest.service_process.service.START_SECONDS", 0.0)
    with pytest.raises(Unreachable, match="not ready within"), launch("good"):
        pass


def test_settings_are_not_inherited_and_libraries_are_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLEANER_PORT", "1")
    monkeypatch.setenv("HOME", "/home/somebody")
    found = clean_environment()
    assert "GLEANER_PORT" not in found
    assert (found["HOME"], found["HF_HUB_OFFLINE"]) == ("/home/somebody", "1")
    assert settings_environment({"PORT": 8080, "MODELS": "a,b"}) == {"GLEANER_PORT": "8080", "GLEANER_MODELS": "a,b"}
