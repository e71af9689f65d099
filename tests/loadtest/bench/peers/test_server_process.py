"""A peer's server is waited for, and nothing of it is left, whatever it leaves behind."""

from __future__ import annotations

import sys
from pathlib import Path

import httpx
import pytest

from loadtest.bench.peers.server_process import PYTHON, SERVERS, running
from loadtest.service_process.ports import KeptPort
from tests.support.processes import lives
from tests.support.service import wait_until

SERVER = Path(__file__).parents[3] / "support" / "answering_server.py"


def test_a_server_answers_and_its_forsaken_child_is_ended_with_it(tmp_path: Path) -> None:
    port, note = KeptPort(), tmp_path / "child"
    command = [sys.executable, str(SERVER), str(port.number), "0.0", str(note)]
    with running(command, f"http://127.0.0.1:{port.number}", tmp_path / "log") as url:
        assert httpx.post(f"{url}/extract", json={"text": "abc"}, timeout=60.0).json()["documents"][0]["entities"]
        child = int(note.read_text())
        assert lives(child)
    wait_until(lambda: not lives(child))


def test_a_server_that_ends_at_once_says_why(tmp_path: Path) -> None:
    port, command = KeptPort(), [sys.executable, "-c", "raise SystemExit('no such model')"]
    with (
        pytest.raises(SystemExit, match="no such model"),
        running(command, f"http://127.0.0.1:{port.number}", tmp_path / "log"),
    ):
        pass


def test_each_server_is_a_module_of_the_peers() -> None:
    servers = Path(__file__).parents[4] / "loadtest" / "bench" / "peers" / "servers"
    assert all((servers / f"{module}.py").is_file() for module in SERVERS.values())
    assert PYTHON.parts[-3:] == ("peers", "bin", "python")
