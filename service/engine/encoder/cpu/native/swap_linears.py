"""The swap of a model's linear layers for compiled ones, in bfloat16 or in 8-bit integers.

GELU after a layer, or residual and normalisation, where a model has these as BERT does, become the layer's epilogue.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from service.engine.encoder.cpu.int8_linear import SMALLEST_OUTPUT
from service.engine.encoder.cpu.module_swap import (
    ModuleSwap,
    PrepackedModule,
    children,
    has_gelu,
    swap_or_restore,
    without_gelu,
)
from service.engine.encoder.cpu.native.linear import Product, supports

_RESIDUAL_NORM = {"dense", "LayerNorm", "dropout"}
_TRIAL_ROWS = 3


class CompiledLinear(PrepackedModule):
    """A compiled linear layer with its epilogue."""

    def __init__(self, product: Product) -> None:
        super().__init__()
        self.product = product
        self.weight_bytes = product.weight_bytes


class NativeLinear(CompiledLinear):
    """Computes what `nn.Linear` computes, and GELU after it if asked for."""

    def __init__(self, linear: nn.Linear, *, int8: bool, gelu: bool = False) -> None:
        super().__init__(Product(linear, int8=int8, gelu=gelu))

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """[…, inputs] → […, outputs], bfloat16."""
        return self.product(rows)


class NativeResidualNorm(CompiledLinear):
    """Computes what BERT's output modules compute: norm(linear(rows) + residual)."""

    def __init__(self, linear: nn.Linear, norm: nn.LayerNorm, *, int8: bool) -> None:
        super().__init__(Product(linear, int8=int8, norm=norm))

    def forward(self, hidden_states: torch.Tensor, input_tensor: torch.Tensor) -> torch.Tensor:
        """[…, inputs] and the residual […, outputs] → […, outputs], bfloat16."""
        return self.product(hidden_states, input_tensor)


def compile_linears(model: nn.Module, trial: Callable[[], object], *, int8: bool = False) -> bool:
    """Swap a model's linear layers; False if all stay, because one is not supported or the model fails with them.

    Args:
        trial: runs the model once, on bfloat16 activations; raises if it fails.
        int8: in 8-bit integers, except heads, which are small, and scores come out of them.
    """
    outputs = {child: (parent, name) for parent, name, child in children(model) if _is_residual_norm(child)}
    linears = [(parent, name, child) for parent, name, child in children(model) if type(child) is nn.Linear]
    if not all(supports(linear, int8=int8) for *_, linear in linears):
        return False
    swaps = []
    for parent, name, linear in linears:
        quantised = int8 and linear.out_features >= SMALLEST_OUTPUT
        if parent in outputs:
            norm = parent.get_submodule("LayerNorm")
            assert isinstance(norm, nn.LayerNorm)
            swaps.append(ModuleSwap(*outputs[parent], NativeResidualNorm(linear, norm, int8=quantised)))
        else:
            swaps.append(ModuleSwap(parent, name, NativeLinear(linear, int8=quantised, gelu=has_gelu(parent))))
    return swap_or_restore([*swaps, *without_gelu([parent for parent, *_ in linears])], trial)


@torch.inference_mode()
def _is_residual_norm(module: nn.Module) -> bool:
    """True if a module has the parts of BERT's output modules, and computes the same with them on a few rows."""
    parts = dict(module.named_children())
    if set(parts) != _RESIDUAL_NORM or module.training:
        return False
    linear, norm = parts["dense"], parts["LayerNorm"]
    if type(linear) is not nn.Linear or type(norm) is not nn.LayerNorm or norm.weight is None or norm.bias is None:
        return False
    draw = torch.Generator().manual_seed(0)
    rows = torch.randn(_TRIAL_ROWS, linear.in_features, generator=draw).to(linear.weight)
    residual = torch.randn(_TRIAL_ROWS, linear.out_features, generator=draw).to(linear.weight)
    try:
        return torch.equal(module(rows, residual), norm(linear(rows) + residual))
    except (RuntimeError, TypeError):
        return False
