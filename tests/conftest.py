"""What holds for all tests: property tests judge answers, not how quickly a busy machine comes up with examples.

Several files run at once (`make unit`). Those that take longest begin first, so that at the end the many short ones
fill what the long ones leave.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

HERE = Path(__file__).parent
LONGEST_FIRST = (
    "system/test_lives.py",
    "loadtest/rehearsal/",
    "system/",
    "s3/",
    "commands/",
    "loadtest/",
    "engine/",
    "infra/",
)
"""Files and folders by how long a file takes; all others come after them."""

settings.register_profile("gleaner", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gleaner")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first; otherwise the order stays as it was."""
    items.sort(key=lambda item: _rank(item.path.relative_to(HERE).as_posix()))


def _rank(path: str) -> int:
    ranks = (rank for rank, folder in enumerate(LONGEST_FIRST) if path.startswith(folder))
    return next(ranks, len(LONGEST_FIRST))
