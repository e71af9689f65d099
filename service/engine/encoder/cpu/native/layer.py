"""A layer of BERT's encoder in one call (`layer.c`): its linear layers and its attention.

Equal bit for bit to its parts called one by one. Owns joining the parts and calling the library.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import torch

from service.engine.encoder.cpu.native.attention import FEATURES_UNIT, fits_int8
from service.engine.encoder.cpu.native.library import function, threads_for
from service.engine.encoder.cpu.native.linear import Description, Product, flat_rows


class Parts(NamedTuple):
    """The linear layers, in the order of use."""

    query: Product
    key: Product
    value: Product
    out: Product
    up: Product
    down: Product


class _Description(ctypes.Structure):
    """`encoder_layer` of layer.c."""

    _fields_ = (("linears", Description * 6), ("heads", ctypes.c_int32), ("scale", ctypes.c_float))


def supports(parts: Parts, heads: int) -> bool:
    """True if `Layer` can join these parts: each takes the output of the one before it, and so does attention."""
    projections = (parts.query, parts.key, parts.value)
    hidden, inner = parts.query.inputs, parts.up.outputs
    shapes = [(each.inputs, each.outputs) for each in parts]
    return (
        shapes == [*[(hidden, hidden)] * 4, (hidden, inner), (inner, hidden)]
        and heads > 0
        and hidden % (heads * FEATURES_UNIT) == 0
        and len({each.int8 for each in projections}) == 1
        and not any(each.normalises for each in (*projections, parts.up))
        and parts.out.normalises
        and parts.down.normalises
    )


class Layer:
    """Attention and feed-forward network, each with residual and normalisation after it."""

    def __init__(self, parts: Parts, heads: int) -> None:
        """Join linear layers that `supports` accepts; their weights stay where they are."""
        self._parts = parts
        self._hidden = parts.query.inputs
        linears = (Description * 6)(*(each.description for each in parts))
        self._description = _Description(linears, heads, (self._hidden // heads) ** -0.5)
        # The mean of the linear layers, since the threads wait for one another after each.
        self._products_per_row = sum(each.inputs * each.outputs for each in parts) // len(parts)
        self.weight_bytes = sum(each.weight_bytes for each in parts)

    def __call__(self, rows: torch.Tensor, borders: Sequence[int], *, int8: bool = False) -> torch.Tensor:
        """[…, hidden] bfloat16 → the same shape.

        Args:
            borders: cumulative lengths, from 0 to the number of rows; a row sees those of its own sequence.
            int8: attention in 8-bit integers.

        Raises:
            TypeError: the rows are not bfloat16.
            MemoryError: the intermediate results do not fit in memory.
        """
        flat = flat_rows(rows, self._hidden)
        out = torch.empty_like(flat)
        c_borders = (ctypes.c_int64 * len(borders))(*borders)
        failed = _function()(
            ctypes.addressof(self._description), flat.data_ptr(), out.data_ptr(), flat.shape[0],
            ctypes.addressof(c_borders), len(borders) - 1, int8 and fits_int8(borders),
            threads_for(flat.shape[0] * self._products_per_row),
        )  # fmt: skip
        if failed:
            raise MemoryError("a layer could not allocate its buffers")
        return out.view(rows.shape)


@cache
def _function() -> Any:
    place, size, count = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32
    return function("gleaner_layer", count, *[place] * 3, size, place, *[count] * 3)
