"""Self-attention of a layer over the packed rows of its joined query, key and value."""

from __future__ import annotations

import torch

from service.engine.encoder.attention import AttentionBackend, AttentionCall
from service.engine.encoder.cuda.layer_parts import LayerParts
from service.engine.execution.packed_batch import PackedBatch


class SelfAttention:
    """All heads of one layer."""

    def __init__(self, parts: LayerParts, backend: AttentionBackend) -> None:
        self._shape = -1, 3, parts.mixed.in_features // parts.head_size, parts.head_size
        self._scaling = parts.head_size**-0.5
        self._backend = backend

    def __call__(self, qkv: torch.Tensor, batch: PackedBatch, out: torch.Tensor | None) -> torch.Tensor:
        """[total, 3 x hidden] → [total, hidden]; `out` of that shape is filled, and only for a back-end that does."""
        query, key, value = qkv.view(self._shape).unbind(1)
        filled = None if out is None else out.view(query.shape)
        lengths = batch.cu_seqlens, batch.borders, batch.max_length
        mixed = self._backend.run(AttentionCall(query, key, value, *lengths, self._scaling, None, filled))
        return mixed.flatten(1) if out is None else out
