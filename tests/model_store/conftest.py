"""What the tests of the store share: model folders, stores here and away, and folders that may not be written to."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from model_store.local.store import Revision, Store
from model_store.remote.folder import FolderRemote
from model_store.remote.retry import Patience
from model_store.transfer.download import Pace
from model_store.transfer.publish import publish
from model_store.transfer.push import Pushed, push
from tests.support.model_folders import write_model

MakeModel = Callable[..., Path]
Upload = Callable[..., tuple[Revision, Pushed]]
SHARDS = {f"model-{number}.safetensors": bytes([number]) * 20_000 for number in range(4)}
BRIEF = Pace(range_bytes=7_000, patience=Patience(limit_seconds=0.5, first_wait_seconds=0.01))


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
def public_folder() -> Iterator[Path]:
    """A folder into which any user may look."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        yield Path(place)


@pytest.fixture
def remote(public_folder: Path) -> FolderRemote:
    return FolderRemote(public_folder / "remote")


@pytest.fixture
def upload(make_model: MakeModel, tmp_path: Path, remote: FolderRemote) -> Upload:
    """Publish a model into the remote store, by way of a store that nobody else uses."""

    def upload(name: str = "model", shards: dict[str, bytes] = SHARDS, **config: object) -> tuple[Revision, Pushed]:
        publisher = Store(tmp_path / "publisher")
        revision = publish(make_model(name, shards, **config), "documents", publisher, tag=None).revision
        return revision, push(revision, publisher, remote, tag="stable")

    return upload


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nothing in `folder` may be changed by this process for a while; root steps down to nobody."""
    modes = {path: path.stat().st_mode for path in (folder, *folder.rglob("*")) if not path.is_symlink()}
    for path in modes:
        path.chmod(0o555 if path.is_dir() else 0o444)
    was_root = os.geteuid() == 0
    if was_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if was_root:
            os.seteuid(0)
        for path, mode in modes.items():
            path.chmod(mode)
