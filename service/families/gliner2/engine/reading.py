"""A GLiNER2 model, read from its folder: a trunk, and the head of its architecture."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from service.families.engine.checkpoint import Checkpoint, Weights, readable, stored_precision
from service.families.free_labels.engine.head_parts import load_head
from service.families.free_labels.engine.trunk import checkpoint_of, read_trunk, read_weights, taken
from service.families.free_labels.prompt import token_id
from service.families.gliner2.config import BoundaryConfig, SpanConfig, read_config
from service.families.gliner2.engine.boundary_head import BoundaryHead
from service.families.gliner2.engine.span_head import SpanHead
from service.families.gliner2.prompt import PROMPT, Gliner2Prompt
from service.text.tokenizer import TOKENIZER_FILE, vocabulary_of

TRUNK = "encoder."
UNUSED_BY_SPANS = "classifier."


def read(folder: Path, dtype: torch.dtype, *, hollow: bool = False) -> Checkpoint:
    """Read the folder's model; `hollow`: names, shapes and formats of its weights alone.

    Raises:
        ModelError: a weight is missing or left over, or the model is of a kind that is not known.
    """
    config = read_config(folder)
    with readable(folder):
        weights = read_weights(folder, hollow=hollow)
        precision = stored_precision(weights) if hollow else dtype
        trunk = read_trunk(folder, config.encoder_config, taken(weights, TRUNK), precision)
    return checkpoint_of(folder, trunk, _head(folder, config, weights, int(trunk.config.hidden_size)))


def _head(folder: Path, config: SpanConfig | BoundaryConfig, weights: Weights, size: int) -> nn.Module:
    vocabulary = vocabulary_of(folder / TOKENIZER_FILE)
    prompt = Gliner2Prompt(vocabulary, finds_records=config.finds_records)
    if isinstance(config, BoundaryConfig):
        return BoundaryHead(config.boundary_head, weights, size, prompt.class_id, prompt.field_id)
    taken(weights, UNUSED_BY_SPANS)
    head = SpanHead(config, size, prompt.class_id, token_id(vocabulary, PROMPT))
    load_head(head, weights)
    return head
