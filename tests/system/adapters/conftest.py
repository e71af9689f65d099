"""A service with all adapters open, and two clients: one without limits, one in debt after its first document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from loadtest.service_process import KeptPort
from tests.support.adapter_clients import FREE, POOR, key_line
from tests.support.service import Service, serving

ADAPTERS = "huggingface,sagemaker,comprehend,presidio,oip,mcp"


@pytest.fixture(scope="session")
def grpc_port() -> Iterator[int]:
    """A port that is kept for the service."""
    kept = KeptPort()
    yield kept.number
    del kept


@pytest.fixture(scope="session")
def opened(home: Path, grpc_port: int) -> Iterator[Service]:
    """A ready service, in float32, that needs keys."""
    keys = key_line("free", FREE) + key_line("poor", POOR, "tokens_per_second=0.01")
    settings = {"MODELS": "tiny,other", "DTYPE": "float32", "ADAPTERS": ADAPTERS, "GRPC_PORT": grpc_port, "WORKERS": 2}
    with serving(home, **settings, API_KEYS=keys) as service:
        yield service
