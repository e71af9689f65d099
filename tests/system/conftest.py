"""Models, and the one running service that all tests of `shared` ask."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from model_store.local.store import Store
from model_store.transfer.publish import publish
from tests.support.service import Service, serving
from tests.support.tiny_models import make_model


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose store holds `tiny`, a BERT, and `other`, a DeBERTa, with the plain model folders beside it."""
    home = tmp_path_factory.mktemp("home")
    for number, (name, kind) in enumerate({"tiny": "bert", "other": "deberta-v2"}.items()):
        publish(make_model(home / name, kind, seed=number), name, Store(home / "store"))
    return home


@pytest.fixture(scope="session")
def service(home: Path) -> Iterator[Service]:
    """A ready service with both models in float32, and a key for hashes of redacted values."""
    with serving(home, MODELS="tiny,other", DTYPE="float32", REDACT_KEY="of sixteen signs or more") as service:
        yield service
