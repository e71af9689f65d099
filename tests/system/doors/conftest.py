"""A service with all doors open, and two clients: one without limits, one in debt after its first document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.door_clients import FREE, POOR, key_line
from tests.support.service import Service, serving

DOORS = "huggingface"


@pytest.fixture(scope="session")
def opened(home: Path) -> Iterator[Service]:
    """A ready service, in float32, that needs keys."""
    keys = key_line("free", FREE) + key_line("poor", POOR, "tokens_per_second=0.01")
    with serving(home, MODELS="tiny,other", DTYPE="float32", DOORS=DOORS, API_KEYS=keys) as service:
        yield service
