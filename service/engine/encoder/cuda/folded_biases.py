"""Biases of the products before a residual, folded into what makes the residual.

norm(r + x W + b) is norm(r′ + x W) with r′ = r + b. The normalisation that makes r adds b beside its own bias, for
nothing, and the other product that reads r′ has W b taken off its own bias. What is left is a product that adds itself
to r′ in place: cuBLAS reads the sum's other operand where it would have read a bias, and the kernel for the sum, with
its pass over memory, is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from service.engine.encoder.cuda.layer_parts import LayerParts


def folded(layers: Sequence[LayerParts]) -> tuple[list[LayerParts], torch.Tensor]:
    """Layers, each after the other, that compute the same without biases at `mixed` and `outer`.

    Returns:
        The layers, whose weights are the given ones, and what the rows for the first one must have been added.
    """
    after = [*(layer.mixed.bias for layer in layers[1:]), None]
    return [_folded(layer, bias) for layer, bias in zip(layers, after, strict=True)], layers[0].mixed.bias


def added(bias: torch.Tensor | None, addend: torch.Tensor) -> nn.Parameter:
    """A bias and what it is to add as well."""
    return nn.Parameter(addend if bias is None else bias + addend, requires_grad=False)


def _folded(layer: LayerParts, after: torch.Tensor | None) -> LayerParts:
    """`after`: what the next layer wants to be added to its rows."""
    return replace(
        layer,
        qkv=_reading_more(layer.qkv, layer.mixed.bias),
        mixed=_with_bias(layer.mixed, None),
        mixed_norm=_adding(layer.mixed_norm, layer.outer.bias),
        inner=_reading_more(layer.inner, layer.outer.bias),
        outer=_with_bias(layer.outer, None),
        outer_norm=layer.outer_norm if after is None else _adding(layer.outer_norm, after),
    )


def _reading_more(linear: nn.Linear, addend: torch.Tensor) -> nn.Linear:
    """The product that makes of rows with `addend` added what it made of them without."""
    surplus = F.linear(addend.float()[None], linear.weight.float())[0]
    return _with_bias(linear, nn.Parameter((linear.bias.float() - surplus).to(linear.bias.dtype), requires_grad=False))


def _with_bias(linear: nn.Linear, bias: nn.Parameter | None) -> nn.Linear:
    made = nn.Linear(linear.in_features, linear.out_features, bias=False, device="meta")
    made.weight, made.bias = linear.weight, bias  # type: ignore[assignment]
    return made


def _adding(norm: nn.LayerNorm, addend: torch.Tensor) -> nn.LayerNorm:
    made = nn.LayerNorm(norm.normalized_shape, norm.eps, device="meta")
    made.weight, made.bias = norm.weight, added(norm.bias, addend)
    return made
