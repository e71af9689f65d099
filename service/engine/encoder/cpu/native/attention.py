"""A back-end of packed attention compiled for the processor (`attention.c`), in bfloat16 or in 8-bit integers.

In bfloat16 it takes half the time of torch's operators, and rounds less.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import torch

from service.engine.encoder.attention import AttentionCall
from service.engine.encoder.cpu.native.library import function, load, pointer, threads_for

FEATURES_UNIT = 32
"""The size of a head is a multiple of this."""

LONGEST_INT8_TOKENS = 1 << 16
"""Tokens whose weights × values, 255 × 127 at most, add up in 32 bits; longer sequences are computed in bfloat16."""


class NativeAttention:
    """Packed attention of layers without a sliding window."""

    name = "native"
    fills = False

    def supports(self, call: AttentionCall) -> bool:
        return call.window is None and supports(call.query)

    def run(self, call: AttentionCall) -> torch.Tensor:
        return attend(call.query, call.key, call.value, call.borders, call.scaling)


class NativeInt8Attention:
    """The same products in 8-bit integers, only for layers that have no sliding window whatever the batch.

    If a window that the batch's longest sequence does not fill were accepted, that sequence would choose the kernel,
    and results would depend on batch mates.
    """

    name = "native_int8"
    fills = False

    def supports(self, call: AttentionCall) -> bool:
        return call.sliding_window is None and supports(call.query)

    def run(self, call: AttentionCall) -> torch.Tensor:
        return attend(call.query, call.key, call.value, call.borders, call.scaling, int8=True)


def supports(query: torch.Tensor) -> bool:
    """True for [total, heads, head_size] bfloat16 tensors of a supported head size, where the library was compiled."""
    fits = query.device.type == "cpu" and query.dtype == torch.bfloat16 and query.shape[2] % FEATURES_UNIT == 0
    return fits and load() is not None


def attend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    borders: Sequence[int],
    scaling: float,
    *,
    int8: bool = False,
) -> torch.Tensor:
    """Bidirectional attention in which a token sees its own sequence only.

    Sequences and heads are computed by as many threads as torch may use in the calling one.

    Args:
        query, key, value: [total, heads, head_size] bfloat16, each of which `supports` accepts.
        borders: cumulative lengths, from 0 to total.
        int8: both products in 8-bit integers; attention_bytes.c describes the rounding.

    Returns:
        [total, heads, head_size], contiguous.

    Raises:
        MemoryError: one sequence's keys and values do not fit in memory.
    """
    total, heads, size = query.shape
    query, key, value = (_contiguous_heads(each) for each in (query, key, value))
    mixed = torch.empty(total, heads, size, dtype=query.dtype)
    c_borders = (ctypes.c_int64 * len(borders))(*borders)
    work = 2 * size * heads * sum((stop - start) ** 2 for start, stop in pairwise(borders))
    failed = _function()(
        *(pointer(each) for each in (query, key, value, mixed)),
        *(each.stride(0) for each in (query, key, value)),
        ctypes.addressof(c_borders), len(borders) - 1, heads, size, scaling,
        int8 and fits_int8(borders), threads_for(work),
    )  # fmt: skip
    if failed:
        raise MemoryError("attention could not allocate its buffers")
    return mixed


def fits_int8(borders: Sequence[int]) -> bool:
    """True if every sequence is short enough for sums of 8-bit products in 32 bits."""
    return max(stop - start for start, stop in pairwise(borders)) <= LONGEST_INT8_TOKENS


def _contiguous_heads(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor, copied unless each token's heads lie end to end, as a model's linear layers leave them."""
    return tensor if tensor.stride()[1:] == (tensor.shape[2], 1) else tensor.contiguous()


@cache
def _function() -> Any:
    place, stride, count = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32
    numbers = [*[count] * 3, ctypes.c_float, count, count]
    return function("gleaner_attention", count, *[place] * 4, *[stride] * 3, place, *numbers)
