"""Tiny models made by hand: the format of safetensors is simple enough to write without torch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CONFIG: dict[str, Any] = {
    "architectures": ["BertForTokenClassification"],
    "model_type": "bert",
    "max_position_embeddings": 512,
    "id2label": {"0": "O", "1": "B-NAME", "2": "I-NAME"},
}
TOKENIZER = {"version": "1.0", "model": {"type": "WordPiece", "vocab": {"[UNK]": 0}}}


def safetensors(data: bytes, name: str = "weight") -> bytes:
    """A safetensors file with one tensor of bytes."""
    header = json.dumps({name: {"dtype": "U8", "shape": [len(data)], "data_offsets": [0, len(data)]}}).encode()
    return len(header).to_bytes(8, "little") + header + data


def write_model(folder: Path, shards: Mapping[str, bytes] | None = None, **config: object) -> Path:
    """Write a model folder; `shards` maps names to the bytes of their one tensor, `config` replaces parts."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({**CONFIG, **config}))
    (folder / "tokenizer.json").write_text(json.dumps(TOKENIZER))
    shards = shards or {"model.safetensors": b"weights" * 1000}
    for number, (shard, data) in enumerate(shards.items()):
        (folder / shard).write_bytes(safetensors(data, f"layer.{number}"))
    if "model.safetensors" not in shards:
        index = {"weight_map": {f"layer.{number}": shard for number, shard in enumerate(shards)}}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder
