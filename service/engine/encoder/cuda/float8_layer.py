"""A layer of BERT's kind whose products are in 8-bit floating point: eleven kernels with compiled row operators.

Attention, GELU, residuals and normalisation stay in bfloat16. GELU is computed where its rows are quantized, since this
product computes none.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from service.engine.encoder.attention import AttentionBackend
from service.engine.encoder.cuda.float8_linear import Float8Linear, can_be_quantized
from service.engine.encoder.cuda.layer_parts import LayerParts
from service.engine.encoder.cuda.row_operators import RowOperators
from service.engine.encoder.cuda.self_attention import SelfAttention
from service.engine.execution.packed_batch import PackedBatch


class Float8Layer(nn.Module):
    """Computes nearly what a layer of BERT's kind computes.

    Raises:
        ValueError: the products take no layer of this size.
    """

    def __init__(self, parts: LayerParts, backend: AttentionBackend, operators: RowOperators) -> None:
        super().__init__()
        linears = parts.qkv, parts.mixed, parts.inner, parts.outer
        if not all(can_be_quantized(each) for each in linears):
            raise ValueError(f"8-bit products take no layer of {parts.qkv.in_features} features")
        self.qkv, self.mixed, self.inner, self.outer = (Float8Linear(each) for each in linears)
        self.mixed_norm, self.outer_norm = parts.mixed_norm, parts.outer_norm
        self._attend = SelfAttention(parts, backend)
        self._activation = parts.activation
        self._gelu = parts.activation is F.gelu
        self._operators = operators

    def run(self, rows: torch.Tensor, batch: PackedBatch, out: torch.Tensor | None) -> torch.Tensor:
        """As `FusedLayer.run`."""
        quantize = self._operators.quantize
        mixed = self._attend(self.qkv(*quantize(rows)), batch, out)
        rows = self._add_norm(self.mixed(*quantize(mixed)), rows, self.mixed_norm)
        inner = self.inner(*quantize(rows))
        inner = quantize(inner, gelu=True) if self._gelu else quantize(self._activation(inner))
        return self._add_norm(self.outer(*inner), rows, self.outer_norm)

    def _add_norm(self, rows: torch.Tensor, residual: torch.Tensor, norm: nn.LayerNorm) -> torch.Tensor:
        return self._operators.add_norm(rows, residual, norm.weight, norm.bias, norm.eps)
