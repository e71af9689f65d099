"""Exports the model folder that ships: config.json, float16 weights, tokenizer."""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from transformers import BertForTokenClassification

from model_store.builtin.training.base.tokenizer import save_tokenizer


def export(model: BertForTokenClassification, tokenizer: Tokenizer, folder: Path) -> int:
    """Write the model in float16; the folder's size in bytes."""
    save_tokenizer(tokenizer, folder)
    weights = {name: value.detach().to(torch.float16).contiguous() for name, value in model.state_dict().items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = model.config.to_dict() | {"architectures": ["BertForTokenClassification"], "dtype": "float16"}
    config = {key: value for key, value in config.items() if key not in {"transformers_version", "_name_or_path"}}
    (folder / "config.json").write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return sum(path.stat().st_size for path in folder.iterdir())
