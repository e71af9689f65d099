"""Attention of models that see boxes over packed rows: LiLT's two streams, and BROS's distances, as one of wider heads.

LiLT adds the scores of text and layout, and both streams use the sum:

    score[i, j] = q_i · k_j / √d + p_i · r_j / √e = [q_i / √d, p_i / √e] · [k_j, r_j]

BROS adds a score for the distance of two boxes, u_i · sin(a_j - a_i) + w_i · cos(a_j - a_i), where the angles a
are a box's coordinates times frequencies, and u and w are projections of q:

    (u_i cos a_i + w_i sin a_i) · sin a_j + (w_i cos a_i - u_i sin a_i) · cos a_j

So no numbers are held for each pair of tokens; transformers' code holds 192.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import nn
from transformers import PreTrainedModel

from service.engine.encoder.attention import AttentionCall
from service.engine.encoder.attention_backends import TABLE
from service.engine.encoder.fused_layer import joined
from service.engine.encoder.packed_batch import PackedBatch

_CORNERS = (0, 1, 2, 1, 2, 3, 0, 3)
"""The coordinate of a box in each place of BROS's four corners."""


class LayoutAttention(nn.Module):
    """Attention of one layer, with query, key and value as one product."""

    def __init__(self, own: Any) -> None:
        super().__init__()
        self.qkv = joined([own.query, own.key, own.value])
        self._heads, self._size = int(own.num_attention_heads), int(own.attention_head_size)

    def backend_name(self, dtype: torch.dtype, device: torch.device, max_tokens: int) -> str:
        """Name the back-end that computes it."""
        wide = torch.empty(1, self._heads, self._widths[0], dtype=dtype, device=device)
        borders = torch.tensor([0, 1]), (0, 1), max_tokens
        return TABLE.backend_for(AttentionCall(wide, wide, wide[..., : self._widths[1]], *borders, 1.0, None)).name

    @property
    def _widths(self) -> tuple[int, int]:
        """Numbers of a head's keys, and of its values."""
        raise NotImplementedError

    def _split(self, product: torch.Tensor, size: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """[total, 3 × heads × size] → queries, keys and values [total, heads, size]."""
        query, key, value = product.view(-1, 3, self._heads, size).unbind(1)
        return query, key, value


class LiltAttention(LayoutAttention):
    """Attention of both streams of one layer."""

    def __init__(self, own: Any) -> None:
        super().__init__(own)
        self.layout_qkv = joined([own.layout_query, own.layout_key, own.layout_value])
        self._narrow = self._size // int(own.channel_shrink_ratio)

    def forward(
        self, rows: torch.Tensor, layout: torch.Tensor, batch: PackedBatch
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Both streams, [total, hidden] and narrower, to the same shapes."""
        streams = (self.qkv(rows), self._size), (self.layout_qkv(layout), self._narrow)
        (q, k, v), (p, r, s) = (self._split(*each) for each in streams)
        query = torch.cat([q * self._size**-0.5, p * self._narrow**-0.5], -1)
        mixed = _attend(query, torch.cat([k, r], -1), torch.cat([v, s], -1), 1.0, batch)
        return mixed[..., : self._size].flatten(1), mixed[..., self._size :].flatten(1)

    @property
    def _widths(self) -> tuple[int, int]:
        return self._size + self._narrow, self._size + self._narrow


class Angles(NamedTuple):
    """Sines and cosines of all coordinates of tokens' boxes times all frequencies, [total, 1, 4 × frequencies]."""

    sines: torch.Tensor
    cosines: torch.Tensor


class BrosAttention(LayoutAttention):
    """Attention of one layer.

    Args:
        places: [size, 2 × 4 × frequencies], a head's projection to sines and cosines of distances; of all layers.
    """

    def __init__(self, own: Any, places: nn.Parameter) -> None:
        super().__init__(own)
        self.places = places

    def forward(self, rows: torch.Tensor, angles: Angles, batch: PackedBatch) -> torch.Tensor:
        """[total, hidden] → the same shape."""
        q, k, v = self._split(self.qkv(rows), self._size)
        u, w = (q @ self.places).chunk(2, -1)
        sines, cosines = angles
        query = torch.cat([q, u * cosines + w * sines, w * cosines - u * sines], -1)
        key = torch.cat([k, sines.expand_as(u), cosines.expand_as(w)], -1)
        return _attend(query, key, v, self._size**-0.5, batch).flatten(1)

    @property
    def _widths(self) -> tuple[int, int]:
        return self._size + self.places.shape[1], self._size


def replace_attention(model: PreTrainedModel) -> list[tuple[Any, nn.Module]]:
    """Give a LiLT or BROS model's layers attention over packed rows; returns each one's parent and the one it had."""
    base: Any = model.base_model
    replaced = [(layer.attention, layer.attention.self) for layer in base.encoder.layer]
    places = _places(base) if model.config.model_type == "bros" else None
    for parent, own in replaced:
        parent.self = LiltAttention(own) if places is None else BrosAttention(own, places)
    return replaced


def hidden_states(model: PreTrainedModel, batch: PackedBatch) -> torch.Tensor:
    """Compute the states [total, hidden] of a model with such attention."""
    base: Any = model.base_model
    types = torch.zeros_like(batch.input_ids)
    given = {"input_ids": batch.input_ids, "position_ids": batch.position_ids, "token_type_ids": types}
    if model.config.model_type == "bros":
        return _bros_states(base, base.embeddings(**given)[0], batch)
    assert batch.boxes is not None
    layout: torch.Tensor = base.layout_embeddings(bbox=batch.boxes, position_ids=batch.position_ids)[0]
    rows: torch.Tensor = base.embeddings(**given)[0][0]
    for layer in base.encoder.layer:
        mixed, mixed_layout = layer.attention.self(rows, layout, batch)
        rows = layer.feed_forward_chunk(layer.attention.output(mixed, rows))
        layout = layer.layout_feed_forward_chunk(layer.attention.layout_output(mixed_layout, layout))
    return rows


def _bros_states(base: Any, rows: torch.Tensor, batch: PackedBatch) -> torch.Tensor:
    angles = _angles(base, batch, rows.dtype)
    for layer in base.encoder.layer:
        rows = layer.feed_forward_chunk(layer.attention.output(layer.attention.self(rows, angles, batch), rows))
    return rows


def _angles(base: Any, batch: PackedBatch, dtype: torch.dtype) -> Angles:
    """Compute sines and cosines from angles in float32: an angle takes a hundred times the precision of its sine."""
    assert batch.boxes is not None
    frequencies = base.bbox_embeddings.bbox_sinusoid_emb.frequencies(batch.boxes.device)
    angles = (batch.boxes[0] * base.config.bbox_scale).unsqueeze(-1) * frequencies
    flat = angles.flatten(1).unsqueeze(1)
    return Angles(flat.sin().to(dtype), flat.cos().to(dtype))


def _places(base: Any) -> nn.Parameter:
    """Sum the projection of a box's eight corner coordinates to one of its four coordinates."""
    weight = base.bbox_embeddings.bbox_projection.weight
    corners = weight.float().view(len(weight), len(_CORNERS), 2, -1)
    summed = corners.new_zeros(len(weight), 4, *corners.shape[2:])
    summed.index_add_(1, torch.tensor(_CORNERS, device=weight.device), corners)
    return nn.Parameter(summed.transpose(1, 2).flatten(1).to(weight.dtype), requires_grad=False)


def _attend(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scaling: float, batch: PackedBatch
) -> torch.Tensor:
    call = AttentionCall(query, key, value, batch.cu_seqlens, batch.borders, batch.max_length, scaling, None)
    return TABLE.backend_for(call).run(call)
