"""Linear layers compiled for the processor (`linear.c`), with their epilogue in an encoder's layer.

Compared with oneDNN they need no primitive for each number of rows, and GELU, residual, normalisation and quantisation
cost no pass over memory of their own. Owns laying out weights and calling the library.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import torch
from torch import nn

from service.engine.device.dtype import MATRIX_UNIT_FLAGS, cpu_has
from service.engine.encoder.cpu.int8_linear import ZERO, quantize_weight
from service.engine.encoder.cpu.native.library import function, load, pointer, threads_for

PANEL = 64
"""Outputs that are computed side by side; zeros fill the last panel up."""


@cache
def available() -> bool:
    """True with a library on a processor without AMX; with AMX, oneDNN is faster."""
    return load() is not None and not cpu_has(MATRIX_UNIT_FLAGS)


def supports(linear: nn.Linear, *, int8: bool = False) -> bool:
    """True if `Product` can compute this layer."""
    return available() and linear.in_features % (4 if int8 else 2) == 0


class Description(ctypes.Structure):
    """`linear` of linear.h: the addresses of a layer's arrays, and its epilogue."""

    _fields_ = (
        *[(name, ctypes.c_void_p) for name in ("weights", "bias", "scales", "offsets", "normal_weight", "normal_bias")],
        ("epsilon", ctypes.c_float),
        *[(name, ctypes.c_int32) for name in ("inputs", "outputs", "gelu")],
    )


class Product:
    """rows × weights + bias and an epilogue; bfloat16 in and out, sums in float32 or integers."""

    def __init__(
        self, linear: nn.Linear, *, int8: bool = False, gelu: bool = False, norm: nn.LayerNorm | None = None
    ) -> None:
        """Lay out a copy of the weights of a layer that `supports` accepts."""
        weight = linear.weight.detach()
        self.inputs, self.outputs, self.int8 = linear.in_features, linear.out_features, int8
        self.normalises = norm is not None
        scales = offsets = None
        if int8:
            weight, scales = quantize_weight(weight)
            offsets = _filled(weight.sum(dim=1, dtype=torch.int32) * ZERO)
            scales = _filled(scales)
        weights = _panels(weight if int8 else weight.bfloat16(), 4 if int8 else 2)
        bias = _filled(torch.zeros(self.outputs) if linear.bias is None else _floats(linear.bias))
        norms = (None, None) if norm is None else (_floats(norm.weight), _floats(norm.bias))
        self._arrays = (weights, bias, scales, offsets, *norms)
        epsilon = 0.0 if norm is None else norm.eps
        self.description = Description(*map(pointer, self._arrays), epsilon, self.inputs, self.outputs, gelu)
        self.weight_bytes = weights.numel() * weights.element_size()

    def __call__(self, rows: torch.Tensor, residual: torch.Tensor | None = None) -> torch.Tensor:
        """[…, inputs] bfloat16 → […, outputs] bfloat16.

        Args:
            residual: […, outputs], added before the normalisation.

        Raises:
            TypeError: the rows are not bfloat16.
        """
        flat = flat_rows(rows, self.inputs)
        count = flat.shape[0]
        out = torch.empty(count, self.outputs, dtype=torch.bfloat16)
        added = None if residual is None else residual.reshape(-1, self.outputs).contiguous()
        integers = torch.empty(count, self.inputs, dtype=torch.uint8) if self.int8 else None
        scales = torch.empty(count) if self.int8 else None
        _function()(
            ctypes.addressof(self.description), pointer(flat), pointer(added), pointer(out), count,
            pointer(integers), pointer(scales), threads_for(count * self.inputs * self.outputs),
        )  # fmt: skip
        return out.view(*rows.shape[:-1], self.outputs)


def flat_rows(rows: torch.Tensor, features: int) -> torch.Tensor:
    """[…, features] bfloat16 → [n, features], contiguous, as the kernels read them; raises TypeError for others."""
    if rows.dtype != torch.bfloat16:
        raise TypeError(f"{rows.dtype} rows for a layer that computes in bfloat16")
    return rows.reshape(-1, features).contiguous()


def _panels(weight: torch.Tensor, together: int) -> torch.Tensor:
    """[outputs, inputs] → [panels, inputs / together, PANEL, together]: the order in which the product reads them."""
    words = weight.shape[1] // together
    return _filled(weight).view(-1, PANEL, words, together).permute(0, 2, 1, 3).contiguous()


def _floats(each: torch.Tensor) -> torch.Tensor:
    return each.detach().float().clone()


def _filled(each: torch.Tensor) -> torch.Tensor:
    """A copy with zeros after the outputs, up to the end of the last panel."""
    filling = each.new_zeros(-each.shape[0] % PANEL, *each.shape[1:])
    return torch.cat([each, filling])


@cache
def _function() -> Any:
    place = ctypes.c_void_p
    return function("gleaner_linear", None, *[place] * 4, ctypes.c_int64, place, place, ctypes.c_int32)
