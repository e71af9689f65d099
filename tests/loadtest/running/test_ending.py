"""Programs that start processes, and are told to end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from loadtest.running.processes import descendants
from tests.system.running import wait_until

COMMANDS = {
    "bench": ("loadtest.bench", "--only", "generator"),
    "gleaner loadtest": ("service.cli", "loadtest", "smoke", "--capacity", "5"),
}
STARTED = {"bench": "loadtest.running.generator", "gleaner loadtest": "service.engine"}


@pytest.mark.parametrize("name", COMMANDS)
def test_sigterm_ends_what_was_started_too(name: str) -> None:
    with subprocess.Popen([sys.executable, "-m", *COMMANDS[name]], stdout=subprocess.DEVNULL) as process:
        wait_until(lambda: any(STARTED[name] in _command_line(each) for each in descendants(process.pid)))
        below = descendants(process.pid)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 1
    assert not [each for each in below if _lives(each)]


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def _command_line(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""
