"""Packed model: computes packed rows with the weights of a transformers model, a token classifier or a trunk alone.

- A model that calls attention through transformers' interface runs its own code, with packed attention by name.
- The code of DeBERTa-v2 and v3 does not call it and builds the scores of all pairs. Its layers get another attention
  (disentangled_attention.py); all their other parts, and the embeddings, are run as they are.
- Nor does that of LiLT and BROS, whose attention sees boxes (layout_attention.py).

The check at load finds whether the rows are those that the model itself computes (packing_check.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from transformers import PreTrainedModel

from service.engine.encoder import attention
from service.engine.encoder.disentangled_attention import DisentangledAttention, RelativePositions
from service.engine.encoder.fused_layer import joined
from service.engine.encoder.layout_attention import LayoutAttention, hidden_states, replace_attention
from service.engine.encoder.packed_batch import PackedBatch

DISENTANGLED = "disentangled"
SEEING_BOXES = ("lilt", "bros")
"""Kinds of models whose attention sees boxes, and is computed by layout_attention.py."""

ComputeRows = Callable[[PackedBatch], torch.Tensor]
"""Function that computes, or queues, one forward pass: logits [total, labels], or a trunk's states [total, width]."""


def set_packed(model: PreTrainedModel) -> ComputeRows:
    """Make a model compute packed rows for good; its own `forward` may no longer work."""
    return _packed(model)[0]


@contextmanager
def packed_meanwhile(model: PreTrainedModel) -> Iterator[ComputeRows]:
    """Make a model compute packed rows meanwhile; afterwards it has its own attention again."""
    with attention.own_attention_afterwards(model):
        compute, replaced = _packed(model)
        try:
            yield compute
        finally:
            for parent, own in replaced:
                parent.self = own


def names_of(model: PreTrainedModel, dtype: torch.dtype, max_tokens: int) -> str:
    """Name a model's present attention: `disentangled`, or as `attention.names_of`."""
    if any(isinstance(part, DisentangledAttention) for part in model.modules()):
        return DISENTANGLED
    if found := next((part for part in model.modules() if isinstance(part, LayoutAttention)), None):
        return found.backend_name(dtype, model.device, max_tokens)
    return attention.names_of(model, dtype, max_tokens)


def _packed(model: PreTrainedModel) -> tuple[ComputeRows, list[tuple[Any, nn.Module]]]:
    """Set packed attention; returns the computation, and each module with a replaced attention and its own one."""
    if model.config.model_type in SEEING_BOXES:
        replaced = replace_attention(model)
        return lambda batch: model.classifier(hidden_states(model, batch)), replaced
    if not _is_disentangled(model):
        attention.set_attention(model, attention.NAME)
        return lambda batch: model(**batch.keywords())[0][0], []
    base: Any = model.base_model
    replaced = [(layer.attention, layer.attention.self) for layer in base.encoder.layer]
    made = [_disentangled(own, base.encoder) for _, own in replaced]
    for (parent, _), each in zip(replaced, made, strict=True):
        parent.self = each
    if model is base:
        return lambda batch: _hidden(base, batch), replaced
    return lambda batch: model.classifier(_hidden(base, batch)), replaced


def _is_disentangled(model: PreTrainedModel) -> bool:
    """True for DeBERTa-v2's code with relative positions and without a convolution, as a trunk or with a classifier."""
    if model.config.model_type != "deberta-v2" or not model.config.relative_attention:
        return False
    heads = {name for name, _ in model.named_children()} - {model.base_model_prefix, "dropout"}
    return model.base_model.encoder.conv is None and (model is model.base_model or heads == {"classifier"})


def _hidden(base: Any, batch: PackedBatch) -> torch.Tensor:
    """Compute the states [total, width] of a trunk whose layers have disentangled attention."""
    layers = base.encoder.layer
    plan = layers[0].attention.self.plan(batch)
    rows: torch.Tensor = base.embeddings(input_ids=batch.input_ids, position_ids=batch.position_ids)[0]
    for layer in layers:
        rows = layer.attention.output(layer.attention.self(rows, plan), rows)
        rows = layer.output(layer.intermediate(rows), rows)
    return rows


def _disentangled(own: Any, encoder: Any) -> DisentangledAttention:
    """Make the attention that replaces one of DeBERTa-v2's; the old weights become views of the new."""
    kinds, shared, heads, size = own.pos_att_type, own.share_att_key, own.num_attention_heads, own.attention_head_size
    scaling = (size * (1 + ("c2p" in kinds) + ("p2c" in kinds))) ** -0.5
    qkv = joined([own.query_proj, own.key_proj, own.value_proj])
    table = encoder.get_rel_embedding()[: 2 * own.pos_ebd_size].float()

    def projected(linear: nn.Linear, factor: float) -> torch.Tensor:
        made: torch.Tensor = F.linear(table, linear.weight.float(), linear.bias.float()) * factor
        return made.to(qkv.weight.dtype).view(-1, heads, size).transpose(0, 1).contiguous()

    return DisentangledAttention(
        qkv,
        heads,
        scaling,
        RelativePositions(own.pos_ebd_size, max(0, own.position_buckets), own.max_relative_positions),
        by_key=projected(own.key_proj if shared else own.pos_key_proj, 1.0) if "c2p" in kinds else None,
        by_query=projected(own.query_proj if shared else own.pos_query_proj, scaling) if "p2c" in kinds else None,
    )
