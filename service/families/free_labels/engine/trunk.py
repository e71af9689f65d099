"""A model with free labels, read from its folder: a trunk and a head, every weight of the folder in one of them.

The trunk is transformers' token classifier without its classifier: its "logits" are the hidden states. So whatever
serves, checks and speeds up a token classifier does so with a trunk.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import nn
from transformers import AutoModelForTokenClassification, PreTrainedModel
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from service.core.errors import ModelError
from service.families.engine.checkpoint import (
    Checkpoint,
    LabelTrunk,
    Weights,
    first_position,
    max_tokens,
    quiet_transformers,
    read_tensor,
    require_complete,
)

_EMBEDDINGS = ("word_embeddings.weight", "tok_embeddings.weight", "embed_tokens.weight")


def checkpoint_of(
    folder: Path, trunk: PreTrainedModel, head: nn.Module | None = None, *label_trunks: LabelTrunk
) -> Checkpoint:
    """The checkpoint of a trunk, whose tokenizer is in the folder."""
    return Checkpoint(
        folder, trunk, first_position(trunk), max_tokens(trunk, folder), head=head, label_trunks=label_trunks
    )


def read_trunk(folder: Path, config: dict[str, Any], weights: Weights, dtype: torch.dtype) -> PreTrainedModel:
    """A trunk with these weights, named as transformers names them; its forward call returns hidden states."""
    kind = config.get("model_type")
    if kind not in CONFIG_MAPPING:
        raise ModelError(f"the folder {folder.name} has a trunk of an unknown kind, {kind!r}")
    made = CONFIG_MAPPING[kind](**{name: value for name, value in config.items() if name != "model_type"})
    tables = (tensor for name, tensor in weights.items() if name.endswith(_EMBEDDINGS))
    made.vocab_size = max((len(table) for table in tables), default=made.vocab_size)  # Tokens were added to some.
    model_class = AutoModelForTokenClassification._model_mapping[type(made)]
    prefix = model_class.base_model_prefix
    with quiet_transformers():
        model, report = model_class.from_pretrained(
            None,
            config=made,
            state_dict={f"{prefix}.{name}": tensor for name, tensor in weights.items()},
            dtype=dtype,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
        )
    inner = {name for name in report["missing_keys"] if name.startswith(f"{prefix}.")}
    require_complete(folder, model, {**report, "missing_keys": inner})
    for name, _ in list(model.named_children()):
        if name != prefix:
            setattr(model, name, nn.Identity())
    model.eval().requires_grad_(False)
    return model


def read_weights(folder: Path, *, hollow: bool = False) -> Weights:
    """All weights, or their names and shapes alone; of two that are one, a file may hold one and name the other."""
    weights: Weights = {}
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, framework="pt") as opened:
            weights |= {name: read_tensor(opened, name, hollow=hollow) for name in opened.keys()}  # noqa: SIM118
            for omitted, kept in (opened.metadata() or {}).items():
                if kept in weights:
                    weights.setdefault(omitted, weights[kept])
    if not weights:
        raise ModelError(f"the folder {folder.name} has no safetensors weights")
    return weights


def taken(weights: Weights, prefix: str) -> Weights:
    """Those whose names begin so, without it; they are not among the others afterwards."""
    return {name.removeprefix(prefix): weights.pop(name) for name in list(weights) if name.startswith(prefix)}
