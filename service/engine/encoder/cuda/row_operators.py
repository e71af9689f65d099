"""What a layer in 8 bits computes row by row: the normalised sum with the residual, and rows with a scale each.

Two implementations: torch's operators, and kernels that are compiled at load (compiled_rows.py).
"""

from __future__ import annotations

from typing import Protocol

import torch
import torch.nn.functional as F  # noqa: N812

FLOAT8 = torch.float8_e4m3fn
LARGEST = 448.0
"""Of `FLOAT8`."""
TINY = 1e-12
"""A row's least peak, so that a row of zeros has a scale."""


class RowOperators(Protocol):
    """The operations; all tensors are contiguous and on one device."""

    def add_norm(
        self, rows: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, epsilon: float
    ) -> torch.Tensor:
        """LayerNorm of rows + residual: [count, columns]; overwrites `rows`."""

    def quantize(self, rows: torch.Tensor, *, gelu: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
        """Rows, or GELU of them: [count, columns] `FLOAT8` and scales [count, 1] float32; their product is the row."""


class TorchRows:
    """By torch's operators, on any device."""

    def add_norm(
        self, rows: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, epsilon: float
    ) -> torch.Tensor:
        # By torch's own binding: the function in F takes as long again to look at what it was given.
        return torch.layer_norm(rows.add_(residual), weight.shape, weight, bias, epsilon, False)

    def quantize(self, rows: torch.Tensor, *, gelu: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
        exact = F.gelu(rows.float()) if gelu else rows.float()
        peaks = exact.abs().amax(dim=1, keepdim=True).clamp_(min=TINY)
        # A cast does not saturate: what rounding puts above the largest number would become NaN.
        return (exact * (LARGEST / peaks)).clamp_(-LARGEST, LARGEST).to(FLOAT8), peaks / LARGEST


TORCH_ROWS = TorchRows()
