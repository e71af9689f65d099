"""Tiny models made by hand: the format of safetensors is simple enough to write without torch."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from model_store.store import Store

MakeModel = Callable[..., Path]

CONFIG: dict[str, Any] = {
    "architectures": ["BertForTokenClassification"],
    "model_type": "bert",
    "max_position_embeddings": 512,
    "id2label": {"0": "O", "1": "B-NAME", "2": "I-NAME"},
}
TOKENIZER = {"version": "1.0", "model": {"type": "WordPiece", "vocab": {"[UNK]": 0}}}


def safetensors(data: bytes) -> bytes:
    """A safetensors file with one tensor of bytes."""
    header = json.dumps({"weight": {"dtype": "U8", "shape": [len(data)], "data_offsets": [0, len(data)]}}).encode()
    return len(header).to_bytes(8, "little") + header + data


@pytest.fixture
def make_model(tmp_path: Path) -> MakeModel:
    """Write a model folder; `shards` maps names to the bytes of their one tensor, `config` replaces parts."""

    def make(name: str = "model", shards: Mapping[str, bytes] | None = None, **config: object) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps({**CONFIG, **config}))
        (folder / "tokenizer.json").write_text(json.dumps(TOKENIZER))
        shards = shards or {"model.safetensors": b"weights" * 1000}
        for shard, data in shards.items():
            (folder / shard).write_bytes(safetensors(data))
        if "model.safetensors" not in shards:
            index = {"weight_map": {f"layer.{number}": shard for number, shard in enumerate(shards)}}
            (folder / "model.safetensors.index.json").write_text(json.dumps(index))
        return folder

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
