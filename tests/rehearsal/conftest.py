"""All tests here are marked `rehearsal`, and need its environment (`make rehearsal-gpu`)."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.rehearsal)
            item.add_marker(pytest.mark.needs("rehearsal"))
