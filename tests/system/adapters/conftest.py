"""A service with all adapters open, and two clients: one without limits, one in debt after its first document.

Beside the models of all tests it serves two with free labels: `free`, a GLiNER, and `free2`, a GLiNER2.5.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from model_store.local.store import Store
from model_store.transfer.publish import publish
from tests.support.adapter_clients import FREE, POOR, key_line
from tests.support.label_models import HOME
from tests.support.service import Service, serving

ADAPTERS = "huggingface,sagemaker,comprehend,presidio,oip,mcp,gliner,gliner2"
LABEL_MODELS = {"free": "uni-span-deberta", "free2": "gliner25-boundary"}


@pytest.fixture(scope="session")
def opened(home: Path) -> Iterator[Service]:
    """A ready service, in float32, that needs keys."""
    keys = key_line("free", FREE) + key_line("poor", POOR, "tokens_per_second=0.01")
    for name, folder in LABEL_MODELS.items():
        publish(HOME / folder, name, Store(home / "store"))
    settings = {"MODELS": "tiny,other,free,free2", "DTYPE": "float32", "ADAPTERS": ADAPTERS, "WORKERS": 2}
    with serving(home, **settings, API_KEYS=keys) as service:
        yield service
