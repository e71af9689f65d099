"""The model that training begins with: the base's first layers, and a head of ours that knows nothing yet."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import BertConfig, BertForTokenClassification

from model_store.builtin.training.base.packed_file import Base
from model_store.builtin.training.base.tokenizer import PAD, SPECIAL_TOKENS
from model_store.builtin.training.labels import TAGS

LAYERS: Final = 10
LINE_END_LIKE: Final = (".", ";", "</s>")
GAP_LIKE: Final = (",", "▁-", ":")
"""Pieces whose mean is the first vector of line ends and gaps, which the base does not have."""
_MATRICES: Final = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
_NORMS: Final = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


def starting_model(base: Base, kept: Sequence[int], *, layers: int = LAYERS) -> BertForTokenClassification:
    """The base's first `layers` layers over the pieces that stay and two more; head and dropout are new."""
    config = BertConfig(
        vocab_size=len(kept) + 2,
        hidden_size=base.sizes.width,
        num_hidden_layers=layers,
        num_attention_heads=base.sizes.heads,
        intermediate_size=base.sizes.inner_width,
        max_position_embeddings=base.sizes.positions,
        type_vocab_size=base.sizes.types,
        layer_norm_eps=base.norm_epsilon,
        pad_token_id=SPECIAL_TOKENS.index(PAD),
        attention_probs_dropout_prob=0.0,
        hidden_dropout_prob=0.1,
        id2label=dict(enumerate(TAGS)),
        label2id={tag: number for number, tag in enumerate(TAGS)},
    )
    model = BertForTokenClassification(config)
    model.bert.load_state_dict({name: torch.from_numpy(array) for name, array in _weights(base, kept, layers).items()})
    return model


def _weights(base: Base, kept: Sequence[int], layers: int) -> Mapping[str, NDArray[np.float32]]:
    width = base.sizes.width
    weights = {
        "embeddings.word_embeddings.weight": _embeddings(base, kept),
        "embeddings.position_embeddings.weight": base.floats("emb.pos").reshape(-1, width),
        "embeddings.token_type_embeddings.weight": base.floats("emb.type").reshape(-1, width),
        "embeddings.LayerNorm.weight": base.floats("emb.ln.w"),
        "embeddings.LayerNorm.bias": base.floats("emb.ln.b"),
    }
    for layer in range(layers):
        for short, name in _MATRICES.items():
            columns = base.sizes.inner_width if short == "fo" else width
            weights[f"encoder.layer.{layer}.{name}.weight"] = base.matrix(f"l{layer}.{short}.w", columns)
            weights[f"encoder.layer.{layer}.{name}.bias"] = base.floats(f"l{layer}.{short}.b")
        for short, name in _NORMS.items():
            weights[f"encoder.layer.{layer}.{name}.weight"] = base.floats(f"l{layer}.{short}.w")
            weights[f"encoder.layer.{layer}.{name}.bias"] = base.floats(f"l{layer}.{short}.b")
    return weights


def _embeddings(base: Base, kept: Sequence[int]) -> NDArray[np.float32]:
    rows = base.matrix("emb.word", base.sizes.width)
    number_of = {piece: number for number, piece in enumerate(base.pieces)}
    new = [rows[[number_of[piece] for piece in alike]].mean(axis=0) for alike in (LINE_END_LIKE, GAP_LIKE)]
    return np.concatenate([rows[list(kept)], np.stack(new)])
