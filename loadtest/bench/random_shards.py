"""A folder with the files and the size of a sharded model, its weights random bytes: to be moved, not to be served."""

from __future__ import annotations

import json
import os
from pathlib import Path

HIDDEN = 1024
_CONFIG = {
    "architectures": ["BertForTokenClassification"],
    "model_type": "bert",
    "hidden_size": HIDDEN,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "intermediate_size": 4 * HIDDEN,
    "max_position_embeddings": 512,
    "id2label": {"0": "O", "1": "B-NAME", "2": "I-NAME"},
}


def make_shards(folder: Path, *, shards: int = 16, shard_bytes: int = 83 * 10**6) -> Path:
    """Write the folder; 16 shards of 83 MB are a BERT-large in float32."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(_CONFIG))
    (folder / "tokenizer.json").write_text(json.dumps({"version": "1.0", "model": {"type": "WordPiece", "vocab": {}}}))
    names = [f"model-{number:05}-of-{shards:05}.safetensors" for number in range(1, shards + 1)]
    for number, name in enumerate(names):
        write_shard(folder / name, f"layer.{number}", shard_bytes)
    weight_map = {f"layer.{number}": name for number, name in enumerate(names)}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    return folder


def write_shard(path: Path, tensor: str, size_bytes: int) -> None:
    """One safetensors file with one tensor of random bytes."""
    header = json.dumps({tensor: {"dtype": "U8", "shape": [size_bytes], "data_offsets": [0, size_bytes]}}).encode()
    with path.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        left = size_bytes
        while left:
            left -= file.write(os.urandom(min(left, 2**24)))
