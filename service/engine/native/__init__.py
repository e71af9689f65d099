"""Attention compiled for the processor (`attention.c`), where the installation found a C compiler.

Takes half the time of the same by torch's operators, and rounds less. Owns finding and calling the library; whoever
calls it has another way where there is none, or where the processor lacks AVX512-BF16: that loses speed, nothing else.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import torch

FEATURES_UNIT = 32
"""The size of a head is a multiple of this."""

SMALLEST_PART = 1 << 22
"""Products of two numbers that are worth a thread of their own: some 100 microseconds."""

HELPERS = 16


def can(query: torch.Tensor) -> bool:
    """Whether `attend` takes [total, heads, head_size] tensors like this one here."""
    fits = query.device.type == "cpu" and query.dtype == torch.bfloat16 and query.shape[2] % FEATURES_UNIT == 0
    return fits and _library() is not None


def attend(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, borders: Sequence[int], scaling: float
) -> torch.Tensor:
    """Bidirectional attention in which a token sees its own sequence only.

    The heads are shared out over as many threads as torch may use in the calling one.

    Args:
        query, key, value: [total, heads, head_size] bfloat16, each of which `can` accepted.
        borders: cumulative lengths, from 0 to total.

    Returns:
        [total, heads, head_size], contiguous.

    Raises:
        MemoryError: there is no room for one sequence's keys and values.
    """
    total, heads, size = query.shape
    query, key, value = (_with_whole_tokens(each) for each in (query, key, value))
    mixed = torch.empty(total, heads, size, dtype=query.dtype)
    cut = (ctypes.c_int64 * len(borders))(*borders)

    def part(first_head: int, last_head: int) -> None:
        library = _library()
        assert library is not None
        failed = library.gleaner_attention(
            *(each.data_ptr() for each in (query, key, value, mixed)),
            *(each.stride(0) for each in (query, key, value)),
            ctypes.addressof(cut), len(borders) - 1, heads, first_head, last_head, size, scaling,
        )  # fmt: skip
        if failed:
            raise MemoryError("attention found no room")

    work = 2 * size * heads * sum((borders[i + 1] - borders[i]) ** 2 for i in range(len(borders) - 1))
    parts = max(1, min(torch.get_num_threads(), heads, work // SMALLEST_PART))
    edges = [heads * i // parts for i in range(parts + 1)]
    if parts == 1:
        part(0, heads)
    else:
        list(_helpers().map(part, edges[:-1], edges[1:]))
    return mixed


def _with_whole_tokens(tensor: torch.Tensor) -> torch.Tensor:
    """The same values with each token's heads end to end, as a model's linear layers leave them anyway."""
    return tensor if tensor.stride()[1:] == (tensor.shape[2], 1) else tensor.contiguous()


@cache
def _library() -> ctypes.CDLL | None:
    for path in Path(__file__).parent.glob("_attention*.so"):
        try:
            library = ctypes.CDLL(str(path))
        except OSError:  # Left there by another Python or system.
            continue
        pointer, stride, count = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32
        library.gleaner_attention.argtypes = [*[pointer] * 4, *[stride] * 3, pointer, *[count] * 5, ctypes.c_float]
        return library if library.gleaner_attention_works() else None
    return None


@cache
def _helpers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(HELPERS, thread_name_prefix="heads")
