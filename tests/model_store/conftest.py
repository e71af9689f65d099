"""Fixtures of the model store's tests: model folders, a local and a remote store, folders that any user may read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from model_store.local.store import Revision, Store
from model_store.remote.folder import FolderRemote
from model_store.transfer.publish import publish
from model_store.transfer.push import PushResult, push
from tests.support.model_folders import write_model
from tests.support.stores import SHARDS, MakeModel, Upload


@pytest.fixture
def make_model(tmp_path: Path) -> MakeModel:
    """Write a model folder; `shards` maps names to the bytes of their one tensor, `config` replaces parts."""

    def make(name: str = "model", shards: Mapping[str, bytes] | None = None, **config: object) -> Path:
        return write_model(tmp_path / name, shards, **config)

    return make


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def published(make_model: MakeModel, store: Store) -> Revision:
    """The model `documents` in the store."""
    return publish(make_model(), "documents", store).revision


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that any user may read."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        yield Path(place)


@pytest.fixture
def remote(public_folder: Path) -> FolderRemote:
    return FolderRemote(public_folder / "remote")


@pytest.fixture
def upload(make_model: MakeModel, tmp_path: Path, remote: FolderRemote) -> Upload:
    """Publish a model into the remote store, by way of a store of the publisher."""

    def upload(name: str = "model", shards: dict[str, bytes] = SHARDS, **config: object) -> tuple[Revision, PushResult]:
        publisher = Store(tmp_path / "publisher")
        revision = publish(make_model(name, shards, **config), "documents", publisher, tag=None).revision
        return revision, push(revision, publisher, remote, tag="stable")

    return upload
