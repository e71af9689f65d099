"""LayoutLM from a text encoder: the same layers and embeddings, and new tables for the boxes of words.

The tables begin as slow waves of small amplitude over the page, which are 0 at coordinate 0. So the model first scores
a text without boxes as the encoder does, and neighbouring coordinates have similar rows (Vaswani et al. 2017, section
3.5).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from transformers import LayoutLMConfig, LayoutLMForTokenClassification, PreTrainedModel

from model_store.families.family import POSITIONS_AFTER_PADDING
from service.training.options import UnusableBase

ENCODERS = ("bert", "roberta", "xlm-roberta", "camembert")
"""Kinds of text encoders whose layers are LayoutLM's."""
TABLES = tuple(f"{name}_position_embeddings" for name in "xyhw")
"""Names of the tables of coordinates, heights and widths."""
COORDINATES = 1024
"""Rows of each table."""
SPECIAL_BOXES = {"cls_token_box": [0] * 4, "sep_token_box": [1000] * 4, "pad_token_box": [0] * 4}
AMPLITUDE = 0.05
"""Ratio of the standard deviation of a table's entries to that of the encoder's word embeddings."""
FEWEST_WAVES, MOST_WAVES = 0.25, 32.0
"""Waves over a page, of the first and last channel of a table."""
_COPIED = (
    *("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "hidden_act"),
    *("hidden_dropout_prob", "attention_probs_dropout_prob", "type_vocab_size", "initializer_range", "layer_norm_eps"),
    *("pad_token_id", "bos_token_id", "eos_token_id"),
)


def layout_model(encoder: PreTrainedModel) -> PreTrainedModel:
    """Make a LayoutLM of a token classifier, with its head.

    Raises:
        UnusableBase: its layers are not those of LayoutLM.
    """
    config = encoder.config
    kind = config.model_type
    if kind not in ENCODERS or getattr(config, "position_embedding_type", None) not in (None, "absolute"):
        raise UnusableBase(f"--layout takes a text encoder of the kind {', '.join(ENCODERS)}; the base is of {kind}.")
    weights: dict[str, Tensor] = dict(encoder.base_model.state_dict())
    places = "embeddings.position_embeddings.weight"
    skipped = (config.pad_token_id or 0) + 1 if kind in POSITIONS_AFTER_PADDING else 0
    weights[places] = weights[places][skipped:]
    copied = {name: getattr(config, name) for name in _COPIED if hasattr(config, name)}
    labels = {"id2label": config.id2label, "label2id": config.label2id}
    made = LayoutLMForTokenClassification(
        LayoutLMConfig(
            **copied, **labels, max_position_embeddings=len(weights[places]), max_2d_position_embeddings=COORDINATES
        )
    )
    made.layoutlm.pooler = torch.nn.Identity()
    made.classifier = encoder.classifier
    deviation = AMPLITUDE * float(weights["embeddings.word_embeddings.weight"].float().std())
    for number, name in enumerate(TABLES):
        weights[f"embeddings.{name}.weight"] = waves(config.hidden_size, deviation, seed=number)
    report = made.layoutlm.load_state_dict(weights, strict=False)
    _require_whole(report.missing_keys, report.unexpected_keys)
    return made


def _require_whole(missing: Sequence[str], unexpected: Sequence[str]) -> None:
    others = [name for name in (*missing, *unexpected) if not name.endswith(("position_ids", "token_type_ids"))]
    if others := [name for name in others if not name.startswith("pooler.")]:
        raise UnusableBase(f"--layout: the base has other weights than LayoutLM: {', '.join(others[:3])}")


def waves(width: int, deviation: float, *, seed: int) -> Tensor:
    """Make a table `[COORDINATES, width]` of waves, a frequency and a phase for each channel; its row 0 is 0."""
    random = torch.Generator().manual_seed(seed)
    octaves = torch.rand(width, generator=random) * math.log(MOST_WAVES / FEWEST_WAVES)
    phases = torch.rand(width, generator=random) * 2 * math.pi
    turns = torch.arange(COORDINATES)[:, None] / COORDINATES * FEWEST_WAVES * octaves.exp()
    table = torch.sin(2 * math.pi * turns + phases)
    table = table - table[:1]
    return table * (deviation / table.std())
