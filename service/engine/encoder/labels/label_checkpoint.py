"""A model with free labels, read from its folder: a trunk and a head, every weight of the folder in one of them.

The trunk is transformers' token classifier without its classifier: its "logits" are the hidden states. So whatever
serves, checks and speeds up a token classifier does so with a trunk.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import nn
from transformers import AutoModelForTokenClassification, PreTrainedModel
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from service.core.errors import ModelError
from service.engine.encoder.checkpoint import (
    HARMLESS,
    Checkpoint,
    first_line,
    first_position,
    max_tokens,
    quiet_transformers,
    read_checkpoint,
    require_complete,
)
from service.engine.encoder.labels.boundary_head import BoundaryHead
from service.engine.encoder.labels.gliner_head import GlinerHead
from service.engine.encoder.labels.head_parts import Weights, load_head
from service.engine.encoder.labels.span_head import SpanHead
from service.text.words.label_config import LABELS_TOKENIZER, Gliner2Config, GlinerConfig, is_label_model
from service.text.words.layouts import PROMPT, token_id
from service.text.words.word_tokenizer import WordTokenizer

GLINER_TRUNK, GLINER2_TRUNK = "token_rep_layer.bert_layer.model.", "encoder."
LABEL_TRUNK = "token_rep_layer.labels_encoder.model."
UNUSED_BY_BI_ENCODERS, UNUSED_BY_SPANS = "rnn.", "classifier."
_EMBEDDINGS = ("word_embeddings.weight", "tok_embeddings.weight", "embed_tokens.weight")


def read_any_checkpoint(folder: Path, dtype: torch.dtype, *, int8: bool = False) -> Checkpoint:
    """Read the folder's model: a token classifier (`read_checkpoint`), or one with free labels.

    Raises:
        ModelError: a weight is missing or left over, or the model is of a kind that is not known.
    """
    if not is_label_model(folder):
        return read_checkpoint(folder, dtype, int8=int8)
    if int8:
        dtype = torch.float32
    words = WordTokenizer(folder)
    config = words.config
    try:
        weights = _read_weights(folder)
        prefix = GLINER_TRUNK if isinstance(config, GlinerConfig) else GLINER2_TRUNK
        trunk = read_trunk(folder, config.encoder_config, _taken(weights, prefix), dtype)
        label_trunk = None
        if isinstance(config, GlinerConfig) and config.reads_labels_apart:
            label_config = config.labels_encoder_config or {}
            label_trunk = read_trunk(folder, label_config, _taken(weights, LABEL_TRUNK), dtype)
            if words.largest_label_id >= int(label_trunk.config.vocab_size):
                raise ModelError(
                    f"the labels' tokenizer has a token {words.largest_label_id}, and their encoder fewer embeddings"
                )
    except ModelError:
        raise
    except Exception as error:  # safetensors and transformers raise whatever they meet.
        raise ModelError(f"the folder {folder.name} cannot be loaded: {first_line(error)}") from error
    head = _head(words, weights, trunk, label_trunk)
    of_labels = None if label_trunk is None else _checkpoint(folder / LABELS_TOKENIZER, label_trunk)
    return replace(_checkpoint(folder, trunk), head=head, label_trunk=of_labels, words=words)


def _checkpoint(folder: Path, model: PreTrainedModel) -> Checkpoint:
    return Checkpoint(folder, model, first_position(model), max_tokens(model, folder))


def _head(
    words: WordTokenizer, weights: Weights, trunk: PreTrainedModel, label_trunk: PreTrainedModel | None
) -> nn.Module:
    config, class_id, size = words.config, words.class_id, int(trunk.config.hidden_size)
    if isinstance(config, GlinerConfig):
        head = GlinerHead(config, size, class_id, None if label_trunk is None else int(label_trunk.config.hidden_size))
        if label_trunk is not None:
            _taken(weights, UNUSED_BY_BI_ENCODERS)
        load_head(head, weights)
        return head
    assert class_id is not None, "its labels are in the prompt"
    if isinstance(config, Gliner2Config):
        return BoundaryHead(config.boundary_head, weights, size, class_id, words.field_id)
    _taken(weights, UNUSED_BY_SPANS)
    span_head = SpanHead(config, size, class_id, token_id(words.vocabulary, PROMPT))
    load_head(span_head, weights)
    return span_head


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
        )
    inner = {name for name in report["missing_keys"] if name.startswith(f"{prefix}.")}
    require_complete(folder, model, {**report, "missing_keys": {each for each in inner if not _is_harmless(each)}})
    for name, _ in list(model.named_children()):
        if name != prefix:
            setattr(model, name, nn.Identity())
    model.eval().requires_grad_(False)
    return model


def _read_weights(folder: Path) -> Weights:
    """All weights; of two that are one, a file may hold one and name the other."""
    weights: Weights = {}
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, framework="pt") as opened:
            weights |= {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
            for omitted, kept in (opened.metadata() or {}).items():
                if kept in weights:
                    weights.setdefault(omitted, weights[kept])
    if not weights:
        raise ModelError(f"the folder {folder.name} has no safetensors weights")
    return weights


def _taken(weights: Weights, prefix: str) -> Weights:
    """Those whose names begin so, without it; they are not among the others afterwards."""
    return {name.removeprefix(prefix): weights.pop(name) for name in list(weights) if name.startswith(prefix)}


def _is_harmless(name: str) -> bool:
    return any(part in name for part in HARMLESS)
