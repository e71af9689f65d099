"""What holds for all tests: property tests judge answers, not how quickly a busy machine comes up with examples.

Several files run at once (`make unit`). Those that take longest begin first, so that at the end the many short ones
fill what the long ones leave. What a test needs of the machine is said by a marker (`tests/support/hardware.py`).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support import hardware

HERE = Path(__file__).parent
LONGEST_FIRST = (
    "system/test_lives.py",
    "loadtest/scaling/",
    "system/",
    "cuda_emulator/",
    "s3/",
    "commands/",
    "loadtest/",
    "engine/",
    "infra/",
)
"""Files and folders by how long a file takes; all others come after them."""

settings.register_profile("gleaner", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("once", settings.get_profile("gleaner"), max_examples=1, derandomize=True)
settings.load_profile("gleaner")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first; otherwise the order stays as it was."""
    items.sort(key=lambda item: _rank(item.path.relative_to(HERE).as_posix()))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what this machine cannot run."""
    hardware.check(item)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List what was not run for want of a device, a processor or a compiler."""
    lines = list(hardware.not_run(terminalreporter.stats.get("skipped", [])))
    if lines:
        terminalreporter.section("not run on this machine")
        for line in lines:
            terminalreporter.line(line)


def _rank(path: str) -> int:
    ranks = (rank for rank, folder in enumerate(LONGEST_FIRST) if path.startswith(folder))
    return next(ranks, len(LONGEST_FIRST))
