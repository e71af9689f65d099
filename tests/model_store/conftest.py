"""What the tests of the store share: model folders, a store, and folders that may not be written to."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from model_store.store import Store
from tests.model_store.hand_made import write_model

MakeModel = Callable[..., Path]


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
