"""A layer of BERT's kind as one function: seven kernels, and a tenth of transformers' Python.

Query, key and value are one product. The products before a normalisation add themselves to the residual, whose biases
are folded (folded_biases.py). On a GPU in half precision GELU is computed by the product before it, in the form of a
hyperbolic tangent, which is off by 0.0005 at most: less than bfloat16's rounding.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from service.engine.encoder.attention import AttentionBackend
from service.engine.encoder.cuda.layer_parts import LayerParts
from service.engine.encoder.cuda.self_attention import SelfAttention
from service.engine.execution.packed_batch import PackedBatch


class FusedLayer(nn.Module):
    """Computes what a layer of BERT's kind computes on packed rows.

    Args:
        parts: with folded biases. They belong to this layer, so the module that they came from can be dropped.
        gelu_in_product: let the product compute GELU where that is what follows it.
    """

    def __init__(self, parts: LayerParts, backend: AttentionBackend, *, gelu_in_product: bool = False) -> None:
        super().__init__()
        self.qkv, self.mixed, self.inner, self.outer = parts.qkv, parts.mixed, parts.inner, parts.outer
        self.mixed_norm, self.outer_norm = parts.mixed_norm, parts.outer_norm
        self._attend = SelfAttention(parts, backend)
        self._activation = parts.activation
        self._gelu_in_product = gelu_in_product and parts.activation is F.gelu
        # Parameters as they are: reading one off a module takes longer than to launch a kernel.
        self._weights = tuple(
            (each.weight, each.bias)
            for each in (self.qkv, self.mixed, self.mixed_norm, self.inner, self.outer, self.outer_norm)
        )
        self._columns = self.outer_norm.normalized_shape
        self._epsilons = self.mixed_norm.eps, self.outer_norm.eps

    def run(self, rows: torch.Tensor, batch: PackedBatch, out: torch.Tensor | None) -> torch.Tensor:
        """[total, hidden] of this batch → the same shape; overwrites `rows`.

        Args:
            out: of the same shape: what attention fills, if its back-end does that.
        """
        columns, (mixed_epsilon, out_epsilon) = self._columns, self._epsilons
        (w_qkv, b_qkv), (w_mixed, _), (g_mixed, n_mixed), (w_in, b_in), (w_out, _), (g_out, n_out) = self._weights
        mixed = self._attend(F.linear(rows, w_qkv, b_qkv), batch, out)
        # By torch's own binding: the function in F takes as long again to look at what it was given.
        rows = torch.layer_norm(rows.addmm_(mixed, w_mixed.t()), columns, g_mixed, n_mixed, mixed_epsilon, False)
        if self._gelu_in_product:
            inner = torch._addmm_activation(b_in, rows, w_in.t(), use_gelu=True)
        else:
            inner = self._activation(F.linear(rows, w_in, b_in))
        return torch.layer_norm(rows.addmm_(inner, w_out.t()), columns, g_out, n_out, out_epsilon, False)
