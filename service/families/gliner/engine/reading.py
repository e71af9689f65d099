"""A GLiNER model, read from its folder: a trunk, its head, and for a bi-encoder the trunk that reads labels."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import PreTrainedModel

from model_store.families.gliner import LABELS_FOLDER
from service.core.errors import ModelError
from service.families.engine.checkpoint import Checkpoint, LabelTrunk, Weights, readable, stored_precision
from service.families.free_labels.engine.head_parts import load_head
from service.families.free_labels.engine.trunk import checkpoint_of, read_trunk, read_weights, taken
from service.families.free_labels.prompt import token_id
from service.families.gliner.config import GlinerConfig, read_config
from service.families.gliner.engine.head import GlinerHead
from service.families.gliner.prompt import labels_vocabulary
from service.text.tokenizer import TOKENIZER_FILE, vocabulary_of

TRUNK = "token_rep_layer.bert_layer.model."
LABEL_TRUNK = "token_rep_layer.labels_encoder.model."
UNUSED_BY_BI_ENCODERS = "rnn."


def read(folder: Path, dtype: torch.dtype, *, hollow: bool = False) -> Checkpoint:
    """Read the folder's model; `hollow`: names, shapes and formats of its weights alone.

    Raises:
        ModelError: a weight is missing or left over, or the model is of a kind that is not known.
    """
    config = read_config(folder)
    with readable(folder):
        weights = read_weights(folder, hollow=hollow)
        dtype = stored_precision(weights) if hollow else dtype
        trunk = read_trunk(folder, config.encoder_config, taken(weights, TRUNK), dtype)
        label_trunk = _label_trunk(folder, config, weights, dtype) if config.reads_labels_apart else None
    size = int(trunk.config.hidden_size)
    if label_trunk is None:
        head = GlinerHead(config, size, token_id(vocabulary_of(folder / TOKENIZER_FILE), config.ent_token))
        load_head(head, weights)
        return checkpoint_of(folder, trunk, head)
    head = GlinerHead(config, size, None, int(label_trunk.config.hidden_size))
    taken(weights, UNUSED_BY_BI_ENCODERS)
    load_head(head, weights)
    labels = checkpoint_of(folder / LABELS_FOLDER, label_trunk)
    return checkpoint_of(folder, trunk, head, LabelTrunk(labels, head.read_labels_by))


def _label_trunk(folder: Path, config: GlinerConfig, weights: Weights, dtype: torch.dtype) -> PreTrainedModel:
    trunk = read_trunk(folder, config.labels_encoder_config or {}, taken(weights, LABEL_TRUNK), dtype)
    largest_id = labels_vocabulary(folder).largest_id
    if largest_id >= int(trunk.config.vocab_size):
        raise ModelError(f"the labels' tokenizer has a token {largest_id}, and their encoder fewer embeddings")
    return trunk
