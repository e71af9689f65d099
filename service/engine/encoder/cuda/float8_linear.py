"""A linear layer in 8-bit floating point (e4m3), for GPUs that multiply it at twice the rate of bfloat16.

Weights get one scale for each output channel, once; activations one for each row at each call. So a row's result
depends on the row alone, not on its batch mates. Sums are in float32, biases and results in bfloat16.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from service.engine.encoder.cuda.row_operators import TORCH_ROWS

MULTIPLE = 16
"""Of features, on both sides: what the product takes."""


class Float8Linear(nn.Module):
    """Computes nearly what `nn.Linear` computes, from quantized rows.

    Elsewhere than on CUDA the product is computed in float32 from the same 8-bit numbers, to measure its accuracy.
    """

    def __init__(self, linear: nn.Linear) -> None:
        """Copy the weights of a layer that `can_be_quantized`."""
        super().__init__()
        weight, scales = TORCH_ROWS.quantize(linear.weight.detach())
        self.weight = nn.Parameter(weight, requires_grad=False)
        self.scales = nn.Parameter(scales.view(1, -1), requires_grad=False)
        self.bias = nn.Parameter(linear.bias.detach(), requires_grad=False)

    def forward(self, rows: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
        """[n, in_features] 8-bit and its scales [n, 1] float32 → [n, out_features] in the bias's format."""
        if rows.is_cuda:
            # Without the faster sums, which on sm 90 keep 14 bits: those could not be measured on a CPU.
            return torch._scaled_mm(
                rows, self.weight.t(), scales, self.scales, bias=self.bias, out_dtype=self.bias.dtype
            )
        product = F.linear(rows.float(), self.weight.float()) * scales * self.scales
        return product.add_(self.bias).to(self.bias.dtype)


def can_be_quantized(linear: nn.Linear) -> bool:
    """True if the product takes a layer of this size."""
    return linear.in_features % MULTIPLE == 0 and linear.out_features % MULTIPLE == 0
