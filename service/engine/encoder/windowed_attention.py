"""Windowed attention: computes sliding windows by blocks of one size, on CUDA devices without flash attention.

Each sequence is cut into blocks of queries; a block's keys are its own and those within the window on both sides. All
blocks of a batch are one call of torch's memory-efficient kernel with a mask. Unused keys of a block are
copies of its own sequence's tokens, so that not even NaN reaches a neighbour.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812
from torch.utils.weak import WeakIdKeyDictionary

from service.engine.encoder.attention import AttentionCall

LEAST_BLOCK_TOKENS = 64
ALIGNED_TOKENS = 8
"""Multiple of a mask's row length that the kernel needs."""


class WindowPlan(NamedTuple):
    """The places of a batch's tokens among attention blocks.

    Attributes:
        queries: [blocks × block] row numbers.
        keys: [blocks × keys] row numbers.
        mask: [blocks, 1, block, keys], 0 or minus infinity.
        places: [total] place of each token among all blocks' queries.
    """

    queries: torch.Tensor
    keys: torch.Tensor
    mask: torch.Tensor
    places: torch.Tensor


class WindowedAttention:
    """Attention of layers with a sliding window, on CUDA."""

    name = "windowed"
    fills = False

    def __init__(self) -> None:
        self._plans = WeakIdKeyDictionary()

    def supports(self, call: AttentionCall) -> bool:
        return call.query.is_cuda and call.window is not None and call.sinks is None

    def run(self, call: AttentionCall) -> torch.Tensor:
        plan, call = self._plan(call), call.with_all_heads()
        blocks, _, block, keys = plan.mask.shape
        size = call.query.shape[1:]
        query = call.query.index_select(0, plan.queries).view(blocks, block, *size).transpose(1, 2)
        key, value = (
            rows.index_select(0, plan.keys).view(blocks, keys, *size).transpose(1, 2) for rows in (call.key, call.value)
        )
        mask = plan.mask.expand(-1, query.shape[1], -1, -1)
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=call.scaling)
        return mixed.transpose(1, 2).flatten(0, 1).index_select(0, plan.places)

    def _plan(self, call: AttentionCall) -> WindowPlan:
        """Plan a batch, once for all of its layers."""
        window = call.window
        assert window is not None
        if call.cu_seqlens not in self._plans:
            self._plans[call.cu_seqlens] = {}
        plans: dict[int, WindowPlan] = self._plans[call.cu_seqlens]
        if window not in plans:
            plans[window] = plan_windows(call, window)
        return plans[window]


def plan_windows(call: AttentionCall, window: int) -> WindowPlan:
    """Plan a batch without waiting for the device.

    Args:
        window: token i sees token j where |i - j| < window.
    """
    reach = window - 1
    block = _aligned(max(LEAST_BLOCK_TOKENS, reach))
    numbers = partial(torch.arange, dtype=torch.int32, device=call.query.device)
    starts, ends = call.cu_seqlens[:-1], call.cu_seqlens[1:]
    blocks = (ends - starts + block - 1) // block
    last_blocks = blocks.cumsum(0, dtype=torch.int32)
    first_blocks = last_blocks - blocks

    number = numbers(_count_blocks(call, block))
    owner = torch.searchsorted(last_blocks, number, right=True).clamp_(max=starts.shape[0] - 1)
    start, end = starts.index_select(0, owner).unsqueeze(1), ends.index_select(0, owner).unsqueeze(1)
    begin = start + (number - first_blocks.index_select(0, owner)).unsqueeze(1) * block
    query, key = begin + numbers(block), begin - reach + numbers(_aligned(block + 2 * reach))
    hidden = (query.unsqueeze(2) - key.unsqueeze(1)).abs() > reach
    hidden |= ((key < start) | (key >= end)).unsqueeze(1)
    hidden &= (query < end).unsqueeze(2)  # Places behind a sequence's end see anything, rather than nothing.
    mask = torch.zeros(hidden.shape, dtype=call.query.dtype, device=hidden.device).masked_fill_(hidden, float("-inf"))

    token = numbers(call.query.shape[0])
    sequence = torch.searchsorted(ends, token, right=True)
    places = first_blocks.index_select(0, sequence) * block + token - starts.index_select(0, sequence)
    last = (end - 1).clamp_(min=0)
    return WindowPlan(
        queries=query.minimum(last).flatten(),
        keys=key.minimum(last).maximum(start.minimum(last)).flatten(),
        mask=mask.unsqueeze(1),
        places=places,
    )


def _count_blocks(call: AttentionCall, block: int) -> int:
    return sum(-(-(stop - start) // block) for start, stop in pairwise(call.borders))


def _aligned(tokens: int) -> int:
    return -(-tokens // ALIGNED_TOKENS) * ALIGNED_TOKENS
