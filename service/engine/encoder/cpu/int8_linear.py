"""Linear layers in 8-bit integers, for CPUs that multiply those twice as fast as bfloat16 (VNNI).

Weights get one scale for each output channel, once; activations one for each row at each call. So a row's result
depends on the row alone: not on its batch mates, and, since integers are exact, not on the order of the additions. For
float32, and for CPUs on which the parked kernels, which do the same faster, do not run. Heads stay as they are: they
are small, and scores come out of them.
"""

from __future__ import annotations

import torch
from torch import nn

from service.engine.encoder.cpu.module_swap import PrepackedModule

LARGEST = 127
ZERO = 128
"""Zero point of activations, which the fast product takes unsigned."""

SMALLEST_OUTPUT = 64
"""Output features of the smallest layer that gains."""

TINY = 1e-12


def quantize_linears(model: nn.Module) -> int:
    """Swap a model's linear layers in place; returns how many."""
    found = [(parent, name, child) for parent in model.modules() for name, child in parent.named_children()]
    places = [
        (parent, name, child)
        for parent, name, child in found
        if isinstance(child, nn.Linear) and child.out_features >= SMALLEST_OUTPUT
    ]
    for parent, name, linear in places:
        setattr(parent, name, Int8Linear(linear))
    return len(places)


class Int8Linear(PrepackedModule):
    """Computes nearly what `nn.Linear` computes, in about half the time of bfloat16."""

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


def quantize_weight(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Integers [outputs, inputs] int8 and a scale for each output [outputs] float32; their product is the weight."""
    exact = weight.float()
    scales = exact.abs().amax(dim=1).clamp_(min=TINY).div_(LARGEST)
    return (exact / scales.unsqueeze(1)).round_().to(torch.int8), scales


def quantize_rows(rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Integers [n, features] uint8 and a scale for each row [n, 1] in the rows' own format.

    A row is (integers - `ZERO`) × scale. The scale is rounded up to the rows' format first, so that its rounding adds
    no error.
    """
    exact = rows.float()
    peaks = torch.maximum(exact.amax(dim=1, keepdim=True), exact.amin(dim=1, keepdim=True).neg_())
    scales = peaks.mul_((1 + torch.finfo(rows.dtype).eps) / LARGEST).clamp_(min=TINY).to(rows.dtype)
    scaled = exact.mul_(1 / scales.float()) if exact is not rows else exact * (1 / scales)
    signed = scaled.round_().to(torch.int8)  # A direct cast to uint8 takes ten times as long.
    return signed.view(torch.uint8).bitwise_xor_(ZERO), scales
