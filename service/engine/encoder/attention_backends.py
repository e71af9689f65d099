"""Attention back-ends of torch for packed rows, in the order in which they are tried.

- Flash attention over `cu_seqlens`: CUDA, Ampere or later, in half precision. By its operators: `varlen_attn`, the
  public function above them, takes three times as long to launch one and zeroes a state for dropout each time.
- torch's memory-efficient kernel over `cu_seqlens`: CUDA otherwise, for layers without a sliding window.
- Blocks of windows (windowed_attention.py): CUDA otherwise, for layers with one.
- Blocks: everywhere else, and on the host, where models are checked: one sequence after the other, in blocks of
  queries. A sliding window costs only the keys that it can see.

A kernel that knows no sinks returns the logarithm of each query's sum of exponentials. With a sink in that sum the
weights are smaller by the factor sum / (sum + exp(sink)), so the result is scaled by it (`scaled_by_sinks`).
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import torch
from transformers import AttentionInterface

from service.engine.encoder.attention import NAME, AttentionCall, PackedAttention
from service.engine.encoder.windowed_attention import WindowedAttention

BLOCK_SCORES = 1 << 20
"""Most attention scores of one block, all heads together."""

SMALLEST_BLOCK_TOKENS = 64
FLASH_MAX_HEAD_SIZE = 256
_FILL_BY_FLASH = getattr(torch, "_flash_attention_forward_no_dropout_inplace", None)
"""Flash attention into a given tensor, by torch's own binding: two thirds of its launch time. Not in torch 2.10."""


class FlashAttention:
    """Flash attention over sequences of different lengths."""

    name = "flash"
    fills = _FILL_BY_FLASH is not None

    def supports(self, call: AttentionCall) -> bool:
        query = call.query
        if not query.is_cuda or query.dtype not in (torch.float16, torch.bfloat16):
            return False
        head_size = query.shape[-1]
        fits = head_size % 8 == 0 and head_size <= FLASH_MAX_HEAD_SIZE and call.value.shape[-1] == head_size
        return fits and _has_flash(query.device)

    def run(self, call: AttentionCall) -> torch.Tensor:
        window = call.window
        reach = None if window is None else window - 1  # Flash counts neighbours on each side.
        lengths = call.cu_seqlens, call.cu_seqlens, call.max_length, call.max_length
        inputs = call.query, call.key, call.value, *lengths, 0.0, False, False
        options = {"scale": call.scaling, "window_size_left": reach, "window_size_right": reach}
        if call.out is not None and call.sinks is None and _FILL_BY_FLASH is not None:
            _FILL_BY_FLASH(call.out, *inputs, **options)
            return call.out
        mixed: torch.Tensor
        mixed, sums, *_ = torch.ops.aten._flash_attention_forward.default(*inputs, **options)
        return mixed if call.sinks is None else scaled_by_sinks(mixed, sums.t(), call.sinks)


class MemoryEfficientAttention:
    """torch's memory-efficient kernel, in any precision."""

    name = "memory_efficient"
    fills = False

    def supports(self, call: AttentionCall) -> bool:
        return call.query.is_cuda and call.window is None

    def run(self, call: AttentionCall) -> torch.Tensor:
        call = call.with_all_heads()
        mixed: torch.Tensor
        mixed, sums, *_ = torch.ops.aten._efficient_attention_forward.default(
            call.query.unsqueeze(0),
            call.key.unsqueeze(0),
            call.value.unsqueeze(0),
            bias=None,
            cu_seqlens_q=call.cu_seqlens,
            cu_seqlens_k=call.cu_seqlens,
            max_seqlen_q=call.max_length,
            max_seqlen_k=call.max_length,
            dropout_p=0.0,
            custom_mask_type=0,
            compute_log_sumexp=call.sinks is not None,
            scale=call.scaling,
        )
        if call.sinks is None:
            return mixed[0]
        return scaled_by_sinks(mixed[0], sums_by_token(sums, call.cu_seqlens, mixed.shape[1]), call.sinks)


class BlockwiseAttention:
    """Matrix products of torch, one sequence after the other."""

    name = "blockwise"
    fills = False

    def supports(self, call: AttentionCall) -> bool:
        return True

    def run(self, call: AttentionCall) -> torch.Tensor:
        call = call.with_all_heads()
        mixed = torch.empty_like(call.query[..., : call.value.shape[-1]], memory_format=torch.contiguous_format)
        for start, stop in pairwise(call.borders):
            part = slice(start, stop)
            _attend(call._replace(query=call.query[part], key=call.key[part], value=call.value[part], out=mixed[part]))
        return mixed


TABLE = PackedAttention([FlashAttention(), MemoryEfficientAttention(), WindowedAttention(), BlockwiseAttention()])

AttentionInterface.register(NAME, TABLE)


@cache
def _has_flash(device: torch.device) -> bool:
    return torch.cuda.get_device_capability(device) >= (8, 0)


def _attend(call: AttentionCall) -> None:
    """Compute attention within the call's one sequence, into `out`."""
    tokens, heads, _ = call.query.shape
    window, out = call.window, call.out
    assert out is not None
    reach = tokens if window is None else window - 1
    query, key, value = (each.transpose(0, 1) for each in (call.query * call.scaling, call.key, call.value))
    step = max(SMALLEST_BLOCK_TOKENS, BLOCK_SCORES // (heads * tokens) if window is None else reach)
    for start in range(0, tokens, step):
        stop = min(start + step, tokens)
        seen = slice(max(0, start - reach), min(tokens, stop + reach))
        scores = torch.matmul(query[:, start:stop], key[:, seen].transpose(1, 2))
        if reach < tokens - 1:
            scores.masked_fill_(_out_of_reach(start, stop, seen, reach, scores.device), float("-inf"))
        out[start:stop] = torch.matmul(_weights(scores, call.sinks), value[:, seen]).transpose(0, 1)


def _weights(scores: torch.Tensor, sinks: torch.Tensor | None) -> torch.Tensor:
    """Apply softmax to [heads, rows, keys], with sinks in float32: a sink is one more key."""
    if sinks is None:
        return torch.softmax(scores, dim=-1)
    exact = torch.cat([scores.float(), sinks.float().view(-1, 1, 1).expand(-1, scores.shape[1], 1)], dim=-1)
    return torch.softmax(exact, dim=-1)[:, :, :-1].to(scores.dtype)


def scaled_by_sinks(mixed: torch.Tensor, sums: torch.Tensor, sinks: torch.Tensor) -> torch.Tensor:
    """Scale attention [total, heads, head_size] as if each head's softmax had a sink.

    Args:
        sums: [total, heads] float32, the logarithm of each softmax's sum without the sink.
    """
    return mixed * torch.sigmoid(sums - sinks.float()).unsqueeze(-1).to(mixed.dtype)


def sums_by_token(sums: torch.Tensor, cu_seqlens: torch.Tensor, total: int) -> torch.Tensor:
    """[sequences, heads, longest or more] → [total, heads]."""
    token = torch.arange(total, dtype=torch.int32, device=sums.device)
    sequence = torch.searchsorted(cu_seqlens[1:], token, right=True)
    return sums[sequence, :, token - cu_seqlens[sequence]]


def _out_of_reach(start: int, stop: int, seen: slice, reach: int, device: torch.device) -> torch.Tensor:
    rows = torch.arange(start, stop, device=device).unsqueeze(1)
    columns = torch.arange(seen.start, seen.stop, device=device).unsqueeze(0)
    return (rows - columns).abs() > reach
