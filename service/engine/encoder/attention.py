"""Packed attention: the function that transformers calls in each layer, over a row of several sequences.

A model whose attention implementation is `NAME` hands down three keywords of its forward call: `borders`, `cu_seqlens`
and `max_length`. No mask function is registered under the name, so transformers builds no mask of total × total tokens.
Each call goes to the first back-end of a table that supports it (attention_backends.py has torch's).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Protocol

import torch
from torch import nn
from transformers import AttentionInterface, PreTrainedModel
from transformers.utils import logging as transformers_logging

NAME = "gleaner_packed"
OWN = "own"


class AttentionCall(NamedTuple):
    """The inputs of one layer's attention.

    Attributes:
        query, key, value: [total, heads, head_size].
        cu_seqlens: [n + 1] int32 on the same device, cumulative lengths.
        borders: the same as Python numbers.
        max_length: tokens of the longest sequence.
        scaling: of the scores.
        sliding_window: of this layer: w lets token i see token j where |i - j| < w; None if it sees all.
        out: [total, heads, head_size], contiguous, which a back-end may fill and return; it holds nothing of worth.
    """

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    cu_seqlens: torch.Tensor
    borders: tuple[int, ...]
    max_length: int
    scaling: float
    sliding_window: int | None
    out: torch.Tensor | None = None

    @property
    def window(self) -> int | None:
        """The sliding window if it hides a token of any sequence, else None."""
        window = self.sliding_window
        return window if window is not None and window < self.max_length else None


class AttentionBackend(Protocol):
    """One way to compute a call; its name is a label of a metric. `fills`: it returns a call's `out`, if it has one."""

    name: str
    fills: bool

    def supports(self, call: AttentionCall) -> bool: ...

    def run(self, call: AttentionCall) -> torch.Tensor:
        """Bidirectional attention in which a token sees its own sequence only: [total, heads, head_size]."""


class PackedAttention:
    """A table of back-ends as transformers' attention function; the last one must support every call."""

    def __init__(self, backends: Sequence[AttentionBackend]) -> None:
        self._backends = tuple(backends)

    def __call__(
        self,
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
        **_unused: object,
    ) -> tuple[torch.Tensor, None]:
        """Run the first back-end that supports the call.

        Args:
            query, key, value: [1, heads, total, head_size].

        Returns:
            [1, total, heads, head_size], and no weights.
        """
        query, key, value = query[0].transpose(0, 1), key[0].transpose(0, 1), value[0].transpose(0, 1)
        scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
        call = AttentionCall(query, key, value, cu_seqlens, borders, max_length, scaling, sliding_window)
        return self.backend_for(call).run(call).unsqueeze(0), None

    def backend_for(self, call: AttentionCall) -> AttentionBackend:
        """The first back-end that supports a call."""
        for backend in self._backends:
            if backend.supports(call):
                return backend
        raise AssertionError("the last back-end supports every call")


def register(name: str, backends: Sequence[AttentionBackend]) -> None:
    """Make a table of back-ends known to transformers under a name; replaces the one before."""
    AttentionInterface.register(name, PackedAttention(backends))


def set_attention(model: PreTrainedModel, name: str) -> None:
    """Select the attention function of a model by its registered name; silences transformers' warnings meanwhile."""
    verbosity = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity(transformers_logging.CRITICAL)
    try:
        model.set_attn_implementation(name)
    finally:
        transformers_logging.set_verbosity(verbosity)


def names_of(model: PreTrainedModel, dtype: torch.dtype, max_tokens: int) -> str:
    """The back-ends that a model's layers use on its device, joined by `+`; `own` where its own attention is set.

    Several where some layers have a sliding window, in which a sequence of `max_tokens` does not fit.
    """
    table = AttentionInterface().get(model.config._attn_implementation)
    if not isinstance(table, PackedAttention):
        return OWN
    heads = int(model.config.num_attention_heads)
    rows = torch.empty(1, heads, int(model.config.hidden_size) // heads, dtype=dtype, device=model.device)
    call = AttentionCall(rows, rows, rows, torch.tensor([0, 1]), (0, 1), max_tokens, 1.0, None)
    windows = {part.sliding_window for part in model.modules() if hasattr(part, "sliding_window")} or {None}
    calls = (call._replace(sliding_window=window) for window in windows)
    return "+".join(sorted({table.backend_for(each).name for each in calls}))


@contextmanager
def own_attention_afterwards(model: PreTrainedModel) -> Iterator[None]:
    """Another attention may be set meanwhile; the model's own one comes back."""
    own = model.config._attn_implementation
    try:
        yield
    finally:
        set_attention(model, own)
