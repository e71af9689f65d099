"""A token classifier, read from a Hugging Face folder by transformers."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors import safe_open
from transformers import AutoModelForTokenClassification

from service.core.errors import ModelError
from service.families.engine.checkpoint import (
    Checkpoint,
    first_position,
    max_tokens,
    quiet_transformers,
    readable,
    require_complete,
)


def read(folder: Path, dtype: torch.dtype, *, int8: bool = False) -> Checkpoint:
    """Read the folder's token classifier.

    Args:
        dtype: to read the weights in.
        int8: read them in float32 instead, since they are still to be quantised.

    Raises:
        ModelError: the folder is no complete token classifier; the detail is one sentence with the reason.
    """
    if not any(folder.glob("*.safetensors")):
        raise ModelError(f"the folder {folder.name} has no safetensors weights")
    with readable(folder), quiet_transformers():
        _check_layers(folder)
        model, report = AutoModelForTokenClassification.from_pretrained(
            folder,
            dtype=torch.float32 if int8 else dtype,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
    require_complete(folder, model, report)
    model.eval().requires_grad_(False)
    names: dict[int, str] = model.config.id2label
    labels = tuple(names[index] for index in range(len(names)))
    return Checkpoint(folder, model, first_position(model), max_tokens(model, folder), labels)


LAYER_COUNTS = ("num_hidden_layers", "num_layers", "n_layers", "n_layer", "encoder_layers", "num_decoder_layers")
"""What a config.json calls the number of a model's layers."""


def _check_layers(folder: Path) -> None:
    """Refuse a folder that has fewer weights than layers, which would be built, one by one, before that is noticed."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    weights = 0
    for file in folder.glob("*.safetensors"):
        with safe_open(file, framework="pt") as opened:
            weights += len(opened.keys())
    layers = max((config[name] for name in LAYER_COUNTS if isinstance(config.get(name), int)), default=0)
    if layers > weights:
        raise ModelError(f"the folder {folder.name} does not fit its config.json: {layers} layers of {weights} weights")
