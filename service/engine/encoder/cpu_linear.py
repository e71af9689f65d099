"""CPU linear layers: replaces a model's layers by oneDNN's, prepacked in bfloat16 or in 8-bit integers.

Some architectures read a layer's weights themselves, which only a trial run shows: a model that fails with the new
layers keeps its own.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple

import torch
from torch import nn
from transformers import PreTrainedModel
from transformers.activations import GELUActivation

from service.engine.device.selection import onednn_has_bfloat16
from service.families.engine.checkpoint import parameter_bytes

LARGEST = 127
ZERO = 128
"""Zero point of activations, which oneDNN's product takes unsigned."""

SMALLEST_OUTPUT = 64
"""Least output features of a layer that is computed in 8-bit integers: a classification head stays as it is."""

TINY = 1e-12
"""Least scale, for a row or channel of zeros."""

_ACTIVATION = "intermediate_act_fn"

log = logging.getLogger(__name__)


class Kernels(StrEnum):
    """The implementation of a model's linear layers, as logs and /models name it."""

    ONEDNN = "onednn"
    """oneDNN's, with a cached primitive for each number of rows."""
    TORCH = "torch"
    """torch's own matrix product, in float32 on a CPU."""
    CUDA = "cuda"
    """torch's own on a GPU."""


def accelerate_for_cpu(
    model: PreTrainedModel, dtype: torch.dtype, trial: Callable[[], object], *, int8: bool
) -> Kernels:
    """Replace a model's linear layers by the fastest that it runs with, and return their kind.

    Args:
        model: on the CPU, in float32 if `int8`, else in `dtype`; afterwards in `dtype`.
        trial: runs the model on a few sequences; raises if it fails.
        int8: let linear layers compute in 8-bit integers.
    """
    if int8:
        quantize_linears(model)
        model.to(dtype)
    if dtype == torch.bfloat16:
        prepack_linears(model, trial)
    return Kernels.ONEDNN if int8 or (dtype == torch.bfloat16 and onednn_has_bfloat16()) else Kernels.TORCH


def weight_bytes(model: nn.Module) -> int:
    """Count the bytes of a model's weights in their present precision and layout."""
    prepacked = (each.weight_bytes for each in model.modules() if isinstance(each, PrepackedModule))
    return parameter_bytes(model) + sum(prepacked)


class PrepackedModule(nn.Module):
    """Module whose weights are laid out for a matrix product and so are no parameters."""

    weight_bytes: int


class PrepackedLinear(PrepackedModule):
    """Linear layer in bfloat16, by the operators that torch's own compiler uses on CPUs.

    Weights are laid out once rather than in each call. On AVX512-BF16 the product gains a tenth (410 → 455 GFLOP/s from
    512 tokens on), short batches more.
    """

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


class Int8Linear(PrepackedModule):
    """Linear layer in 8-bit integers: nearly the same results in half the time of bfloat16 on CPUs with VNNI.

    Weights get one scale for each output channel, once; activations one for each row at each call. So a row's result
    depends on the row alone: not on its batch, and, since integers are exact, not on the order of additions.
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.in_features = linear.in_features
        self.out_features = linear.out_features
        integers, self._scales = quantize_weight(linear.weight.detach())
        self._zeros = torch.zeros(self.out_features, dtype=torch.int32)
        self.weight_bytes = integers.numel()
        self._weight: torch.Tensor = torch.ops.onednn.qlinear_prepack(integers, None)
        bias = torch.zeros(self.out_features) if linear.bias is None else linear.bias
        self.bias = nn.Parameter(bias.detach().clone(), requires_grad=False)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """[…, in_features] → […, out_features], in the rows' own format."""
        integers, scales = quantize_rows(rows.reshape(-1, self.in_features))
        product: torch.Tensor = torch.ops.onednn.qlinear_pointwise(
            integers, 1.0, ZERO, self._weight, self._scales, self._zeros, None, 1.0, 0, rows.dtype, "none", [], ""
        )
        return torch.addcmul(self.bias, product, scales).view(*rows.shape[:-1], self.out_features)


def quantize_linears(model: nn.Module) -> int:
    """Replace a model's linear layers of at least `SMALLEST_OUTPUT` outputs by 8-bit ones; returns their number."""
    places = [
        place
        for place in _children(model)
        if isinstance(place.child, nn.Linear) and place.child.out_features >= SMALLEST_OUTPUT
    ]
    for parent, name, linear in places:
        assert isinstance(linear, nn.Linear)
        setattr(parent, name, Int8Linear(linear))
    return len(places)


def quantize_weight(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Quantize a weight to integers [outputs, inputs] int8 and scales [outputs] float32; it is their product."""
    exact = weight.float()
    scales = exact.abs().amax(dim=1).clamp_(min=TINY).div_(LARGEST)
    return (exact / scales.unsqueeze(1)).round_().to(torch.int8), scales


def quantize_rows(rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Quantize rows to integers [n, features] uint8 and scales [n, 1] in the rows' own format.

    A row is (integers - `ZERO`) × scale. The scale is rounded up to the rows' format first, so that its rounding adds
    no error.
    """
    exact = rows.float()
    peaks = torch.maximum(exact.amax(dim=1, keepdim=True), exact.amin(dim=1, keepdim=True).neg_())
    scales = peaks.mul_((1 + torch.finfo(rows.dtype).eps) / LARGEST).clamp_(min=TINY).to(rows.dtype)
    scaled = exact.mul_(1 / scales.float()) if exact is not rows else exact * (1 / scales)
    signed = scaled.round_().to(torch.int8)  # A direct cast to uint8 takes ten times as long.
    return signed.view(torch.uint8).bitwise_xor_(ZERO), scales


def prepack_linears(model: nn.Module, trial: Callable[[], object]) -> bool:
    """Replace a model's linear layers by prepacked ones, with GELU where that follows as in BERT.

    Args:
        trial: runs the model once; raises if it fails.

    Returns:
        False if all layers stay, because torch lacks the operators for this processor or the model fails with them.
    """
    linears = [place for place in _children(model) if type(place.child) is nn.Linear]
    fused = [place.parent for place in linears if _has_gelu(place.parent)]
    try:
        new = [
            place._replace(child=PrepackedLinear(place.child, "gelu" if place.parent in fused else "none"))
            for place in linears
            if isinstance(place.child, nn.Linear)
        ]
    except (RuntimeError, AttributeError):  # This build of torch lacks these operators for this processor.
        return False
    new += [_Place(parent, _ACTIVATION, nn.Identity()) for parent in fused]
    old = [_Place(place.parent, place.name, getattr(place.parent, place.name)) for place in new]
    _put(new)
    try:
        trial()
    except (RuntimeError, AttributeError, TypeError) as error:
        _put(old)
        log.info("layers stay as they are", extra={"reason": f"{type(error).__name__}: {error}"})
        return False
    return True


class _Place(NamedTuple):
    """A module's child and its name."""

    parent: nn.Module
    name: str
    child: nn.Module


def _children(model: nn.Module) -> Iterator[_Place]:
    return (_Place(parent, name, child) for parent in model.modules() for name, child in parent.named_children())


def _put(places: list[_Place]) -> None:
    for parent, name, child in places:
        setattr(parent, name, child)


def _has_gelu(module: nn.Module) -> bool:
    """True for BERT's module of a linear layer that is followed by GELU, and by nothing else."""
    activation = getattr(module, _ACTIVATION, None)
    return isinstance(activation, GELUActivation) and set(dict(module.named_children())) == {"dense", _ACTIVATION}
