"""A peer's server is waited for, and nothing of it is left, whatever it leaves behind."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import httpx
import pytest

from loadtest.bench.peers.servers import PYTHON, SERVERS, running
from loadtest.bench.running import free_port

SERVER = Path(__file__).parent / "answering.py"


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_server_answers_and_its_forsaken_child_is_ended_with_it(tmp_path: Path) -> None:
    port, note = free_port(), tmp_path / "child"
    command = [sys.executable, str(SERVER), str(port), "0.0", str(note)]
    with running(command, f"http://127.0.0.1:{port}", tmp_path / "log") as url:
        assert httpx.post(f"{url}/extract", json={"text": "abc"}).json()["documents"][0]["entities"][0]["end"] == 3
        child = int(note.read_text())
        assert is_running(child)
    end = time.monotonic() + 10
    while is_running(child) and time.monotonic() < end:
        time.sleep(0.01)
    assert not is_running(child)


def test_a_server_that_ends_at_once_says_why(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "raise SystemExit('no such model')"]
    with (
        pytest.raises(SystemExit, match="no such model"),
        running(command, f"http://127.0.0.1:{free_port()}", tmp_path / "log"),
    ):
        pass


def test_each_server_is_a_module_of_the_peers() -> None:
    root = Path(__file__).parents[3]
    assert all((root / "loadtest" / "peers" / f"{module}.py").is_file() for module in SERVERS.values())
    assert PYTHON.parts[-3:] == ("peers", "bin", "python")
