"""Attention within the borders of a packed row: the one seam between our batches and the model's own code.

transformers calls `packed_attention` in every layer of a model whose attention implementation is `NAME`; `borders`,
`cu_seqlens` and `max_length` are keywords of the forward call that the model hands down. No mask function is registered
under `NAME`, so transformers builds no mask of total × total tokens.

- CUDA, half precision, Ampere or later: flash attention over `cu_seqlens` (`torch.nn.attention.varlen`).
- CUDA otherwise, without a sliding window: torch's memory-efficient kernel over `cu_seqlens`.
- CPUs that multiply bfloat16, without a sliding window: our own kernel, where it could be compiled (`native`); under
  `INT8_NAME` in 8-bit integers.
- elsewhere: sequence by sequence, in blocks of queries whose scores stay in the processor's cache. On CPUs this takes
  half the time of torch's own kernel in bfloat16, and a sliding window costs only the keys that it can see.

A sliding window w lets token i see token j where |i - j| < w.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import torch
from torch import nn
from torch.nn.attention.varlen import varlen_attn
from transformers import AttentionInterface

from service.engine.cuda_graphs.capturable import NotCapturable
from service.engine.encoder.cpu.native import attention as native

NAME = "gleaner_packed"
INT8_NAME = "gleaner_packed_int8"
"""The same, but that where 8-bit integers are faster, and may cost accuracy, they are taken."""

BLOCK_SCORES = 1 << 20
"""Attention scores of one block, all heads together: 2 MiB in bfloat16."""

SMALLEST_BLOCK_TOKENS = 64
FLASH_MAX_HEAD_SIZE = 256


def register() -> None:
    """Make both names known to transformers; doing it again changes nothing."""
    AttentionInterface.register(NAME, packed_attention)
    AttentionInterface.register(INT8_NAME, partial(packed_attention, int8=True))


def packed_attention(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    *,
    cu_seqlens: torch.Tensor,
    borders: tuple[int, ...],
    max_length: int,
    scaling: float | None = None,
    sliding_window: int | None = None,
    int8: bool = False,
    **_unused: object,
) -> tuple[torch.Tensor, None]:
    """Bidirectional attention in which a token sees its own sequence only.

    Args:
        query, key, value: [1, heads, total, head_size].
        cu_seqlens: [n + 1] int32, cumulative lengths; `borders` are the same as Python numbers, or none where the pass
            is recorded for other lengths than today's.

    Returns:
        [1, total, heads, head_size], and no weights.
    """
    query, key, value = query[0].transpose(0, 1), key[0].transpose(0, 1), value[0].transpose(0, 1)
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    window = sliding_window if sliding_window is not None and sliding_window < max_length else None
    if _flash_can(query):
        mixed = _flash(query, key, value, cu_seqlens, max_length, scaling, window)
    elif query.is_cuda and window is None:
        mixed = _efficient(query, key, value, cu_seqlens, max_length, scaling)
    elif window is None and native.can(query):
        # With a window the batch's longest decides whether we get here, and batch mates must not change an answer.
        mixed = native.attend(query, key, value, borders, scaling, int8=int8 and sliding_window is None)
    else:
        if not borders:
            raise NotCapturable("no kernel for this attention reads cu_seqlens on the device")
        mixed = torch.empty_like(query, memory_format=torch.contiguous_format)
        for start, stop in pairwise(borders):
            part = slice(start, stop)
            attend(query[part], key[part], value[part], scaling, window, out=mixed[part])
    return mixed.unsqueeze(0), None


def _flash_can(query: torch.Tensor) -> bool:
    if not query.is_cuda or query.dtype not in (torch.float16, torch.bfloat16):
        return False
    head_size = query.shape[-1]
    fits = head_size % 8 == 0 and head_size <= FLASH_MAX_HEAD_SIZE
    return fits and torch.cuda.get_device_capability(query.device) >= (8, 0)


def _flash(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    cu_seqlens: torch.Tensor,
    max_length: int,
    scaling: float,
    window: int | None,
) -> torch.Tensor:
    reach = -1 if window is None else window - 1  # Flash counts neighbours on each side; -1 is all.
    lengths = (cu_seqlens, cu_seqlens, max_length, max_length)
    mixed = varlen_attn(query, key, value, *lengths, scale=scaling, window_size=(reach, reach))
    assert isinstance(mixed, torch.Tensor)
    return mixed


def _efficient(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    cu_seqlens: torch.Tensor,
    max_length: int,
    scaling: float,
) -> torch.Tensor:
    mixed: torch.Tensor = torch.ops.aten._efficient_attention_forward(
        query.unsqueeze(0),
        key.unsqueeze(0),
        value.unsqueeze(0),
        bias=None,
        cu_seqlens_q=cu_seqlens,
        cu_seqlens_k=cu_seqlens,
        max_seqlen_q=max_length,
        max_seqlen_k=max_length,
        dropout_p=0.0,
        custom_mask_type=0,
        scale=scaling,
    )[0]
    return mixed[0]


def attend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    scaling: float,
    window: int | None,
    *,
    out: torch.Tensor,
) -> None:
    """Attention within one sequence, written to `out`; all are [tokens, heads, head_size]."""
    tokens, heads, _ = query.shape
    reach = tokens if window is None else window - 1
    query, key, value = query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1)
    step = max(SMALLEST_BLOCK_TOKENS, BLOCK_SCORES // (heads * tokens) if window is None else reach)
    for start in range(0, tokens, step):
        stop = min(start + step, tokens)
        seen = slice(max(0, start - reach), min(tokens, stop + reach))
        scores = torch.matmul(query[:, start:stop] * scaling, key[:, seen].transpose(1, 2))
        if reach < tokens - 1:
            scores.masked_fill_(_out_of_reach(start, stop, seen, reach, scores.device), float("-inf"))
        weights = torch.softmax(scores.float(), dim=-1).to(value.dtype)  # Half the time of bfloat16's own softmax.
        mixed = torch.matmul(weights, value[:, seen])
        out[start:stop] = mixed.transpose(0, 1)


def _out_of_reach(start: int, stop: int, seen: slice, reach: int, device: torch.device) -> torch.Tensor:
    rows = torch.arange(start, stop, device=device).unsqueeze(1)
    columns = torch.arange(seen.start, seen.stop, device=device).unsqueeze(0)
    return (rows - columns).abs() > reach
