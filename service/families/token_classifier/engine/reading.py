"""A token classifier, read from a Hugging Face folder by transformers."""

from __future__ import annotations

import json
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from transformers import AutoConfig, AutoModelForTokenClassification, PreTrainedModel

from service.core.errors import ModelError
from service.families.engine.checkpoint import (
    Checkpoint,
    Weights,
    first_position,
    max_tokens,
    quiet_transformers,
    read_tensor,
    readable,
    require_complete,
    stored_precision,
)
from service.text.decoding_files import TRANSITIONS


def read(folder: Path, dtype: torch.dtype, *, hollow: bool = False) -> Checkpoint:
    """Read the folder's token classifier.

    Args:
        dtype: to read the weights in.
        hollow: read names, shapes and formats of the weights alone.

    Raises:
        ModelError: the folder is no complete token classifier, or one that needs more than text; the detail is one
            sentence with the reason.
    """
    return read_classifier(folder, dtype, hollow=hollow, check=_check_inputs)


def read_classifier(folder: Path, dtype: torch.dtype, *, hollow: bool, check: Callable[[Path], None]) -> Checkpoint:
    """What `read` does, for any family of token classifiers; `check`: raises ModelError before the weights are read."""
    if not any(folder.glob("*.safetensors")):
        raise ModelError(f"the folder {folder.name} has no safetensors weights")
    with readable(folder), quiet_transformers():
        _check_layers(folder)
        check(folder)
        model, report = _hollow(folder) if hollow else _whole(folder, dtype)
    require_complete(folder, model, report)
    model.eval().requires_grad_(False)
    names: dict[int, str] = model.config.id2label
    labels = tuple(names[index] for index in range(len(names)))
    return Checkpoint(folder, model, first_position(model), max_tokens(model, folder), labels)


def _whole(folder: Path, dtype: torch.dtype) -> tuple[PreTrainedModel, dict[str, Any]]:
    """The model, and transformers' report of its weights."""
    read: tuple[PreTrainedModel, dict[str, Any]] = AutoModelForTokenClassification.from_pretrained(
        folder, dtype=dtype, use_safetensors=True, local_files_only=True, trust_remote_code=False, **_REPORTED
    )
    return read


def _hollow(folder: Path) -> tuple[PreTrainedModel, dict[str, Any]]:
    """What `_whole` gives, of weights without contents."""
    config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    weights: Weights = {}
    for file in sorted(folder.glob("*.safetensors")):
        if file.name != TRANSITIONS:
            with safe_open(file, framework="pt") as opened:
                weights |= {name: read_tensor(opened, name, hollow=True) for name in opened.keys()}  # noqa: SIM118
    model_class = AutoModelForTokenClassification._model_mapping[type(config)]
    read: tuple[PreTrainedModel, dict[str, Any]] = model_class.from_pretrained(
        None, config=config, state_dict=weights, dtype=stored_precision(weights), **_REPORTED
    )
    return read


PLACES = ("bbox", "xpath_tags_seq")
"""Inputs by which a model sees where a token stands: on its page (LayoutLM, LiLT, BROS), in its HTML (MarkupLM)."""


def _check_inputs(folder: Path) -> None:
    """Refuse a model that sees where a token stands: transformers fills a missing place in, without a word."""
    kind = type(AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False))
    if kind not in AutoModelForTokenClassification._model_mapping:
        return  # Reading it says so.
    takes = signature(AutoModelForTokenClassification._model_mapping[kind].forward).parameters
    if place := next((each for each in PLACES if each in takes), None):
        raise ModelError(
            f"the model in the folder {folder.name} ({kind.model_type}) sees where each token stands (`{place}`), and "
            "is given text alone here: its answers would be those of a model that cannot see"
        )


_REPORTED = {"output_loading_info": True, "ignore_mismatched_sizes": True}
"""Options with which weights that do not fit are reported together, not raised one by one."""
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
