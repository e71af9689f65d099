"""SIGTERM to programs that start processes."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from loadtest.service_process import process_tree
from tests.support.processes import command_of, lives
from tests.support.service import wait_until

COMMANDS = {
    "bench": ("loadtest.bench", "--only", "start"),
    "gleaner loadtest": ("service.cli", "loadtest", "smoke", "--capacity", "5"),
}
STARTED = "service.engine"


def ids_below(root: int) -> list[int]:
    return [process.pid for process in process_tree(root)]


@pytest.mark.parametrize("name", COMMANDS)
def test_sigterm_ends_the_started_processes_too(name: str) -> None:
    with subprocess.Popen([sys.executable, "-m", *COMMANDS[name]], stdout=subprocess.DEVNULL) as process:
        wait_until(lambda: any(STARTED in command_of(each) for each in ids_below(process.pid)))
        below = ids_below(process.pid)
        process.send_signal(signal.SIGTERM)
        assert process.wait(180) == 1
    wait_until(lambda: not any(lives(each) for each in below))  # The kernel ends those whose parent has ended.
