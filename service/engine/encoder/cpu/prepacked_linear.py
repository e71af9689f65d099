"""Linear layers with weights laid out once for the CPU's bfloat16 matrix product, rather than in each call.

For CPUs on which the parked kernels do not run. On AVX512-BF16 the product itself gains a tenth (410 → 455 GFLOP/s from
512 tokens on), short batches more.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from service.engine.encoder.cpu.module_swap import (
    ModuleSwap,
    PrepackedModule,
    children,
    has_gelu,
    swap_or_restore,
    without_gelu,
)


class PrepackedLinear(PrepackedModule):
    """Computes what `nn.Linear` computes, by the operators that torch's own compiler uses for it on CPUs."""

    def __init__(self, linear: nn.Linear, activation: str = "none") -> None:
        super().__init__()
        self._activation = activation
        self.in_features = linear.in_features
        self.out_features = linear.out_features
        self._weight: torch.Tensor = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach())
        self._bias = None if linear.bias is None else linear.bias.detach()
        self.weight_bytes = linear.weight.numel() * linear.weight.element_size()

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """[…, in_features] → […, out_features]."""
        product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
            rows, self._weight, self._bias, self._activation, [], "none"
        )
        return product


def prepack_linears(model: nn.Module, trial: Callable[[], object]) -> bool:
    """Swap a model's linear layers; False if they stay, because torch lacks the operators or the model fails with them.

    Args:
        trial: runs the model once; raises if it fails.
    """
    linears = [(parent, name, child) for parent, name, child in children(model) if type(child) is nn.Linear]
    try:
        swaps = [
            ModuleSwap(parent, name, PrepackedLinear(linear, "gelu" if has_gelu(parent) else "none"))
            for parent, name, linear in linears
        ]
    except (RuntimeError, AttributeError):  # This build of torch lacks these operators.
        return False
    return swap_or_restore([*swaps, *without_gelu([parent for parent, *_ in linears])], trial)
