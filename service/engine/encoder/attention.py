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
        query: [total, heads, head_size].
        key, value: the same, or with fewer heads, each for as many neighbouring heads of the query; values may be
            narrower, and then the result is.
        cu_seqlens: [n + 1] int32 on the same device, cumulative lengths.
        borders: the same as Python numbers.
        max_length: tokens of the longest sequence.
        scaling: factor of the scores.
        sliding_window: this layer's w: token i sees token j where |i - j| < w; None if it sees all.
        out: [total, heads, head_size], contiguous, uninitialized; a back-end may fill and return it.
        sinks: [heads], a score for each head that takes part in the softmax and stands for no token; None without.
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
    sinks: torch.Tensor | None = None

    def with_all_heads(self) -> AttentionCall:
        """Repeat heads of keys and values until there are as many as of queries."""
        share = self.query.shape[1] // self.key.shape[1]
        if share == 1:
            return self
        return self._replace(key=self.key.repeat_interleave(share, 1), value=self.value.repeat_interleave(share, 1))

    @property
    def window(self) -> int | None:
        """The sliding window if it hides a token of any sequence, else None."""
        window = self.sliding_window
        return window if window is not None and window < self.max_length else None


class AttentionBackend(Protocol):
    """One way to compute a call; `name` labels a metric. `fills`: it fills and returns a call's `out`, if given."""

    name: str
    fills: bool

    def supports(self, call: AttentionCall) -> bool: ...

    def run(self, call: AttentionCall) -> torch.Tensor:
        """Compute bidirectional attention within each sequence: [total, heads, head_size]."""


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
        s_aux: torch.Tensor | None = None,
        **_unused: object,
    ) -> tuple[torch.Tensor, None]:
        """Run the first back-end that supports the call.

        Args:
            query, key, value: [1, heads, total, head_size].
            s_aux: the sinks, by transformers' name.

        Returns:
            [1, total, heads, head_size], and no weights.
        """
        query, key, value = query[0].transpose(0, 1), key[0].transpose(0, 1), value[0].transpose(0, 1)
        scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
        lengths = cu_seqlens, borders, max_length
        call = AttentionCall(query, key, value, *lengths, scaling, sliding_window, sinks=s_aux)
        return self.backend_for(call).run(call).unsqueeze(0), None

    def backend_for(self, call: AttentionCall) -> AttentionBackend:
        """The first back-end that supports a call."""
        for backend in self._backends:
            if backend.supports(call):
                return backend
        raise AssertionError("the last back-end supports every call")


def set_attention(model: PreTrainedModel, name: str) -> None:
    """Select the attention function of a model by its registered name; silences transformers' warnings meanwhile."""
    verbosity = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity(transformers_logging.CRITICAL)
    try:
        model.set_attn_implementation(name)
    finally:
        transformers_logging.set_verbosity(verbosity)


def names_of(model: PreTrainedModel, dtype: torch.dtype, max_tokens: int) -> str:
    """Name the back-ends of a model's layers on its device, joined by `+`; `own` where its own attention is set.

    There are several where some layers have a sliding window that a sequence of `max_tokens` exceeds.
    """
    table = AttentionInterface().get(model.config._attn_implementation)
    if not isinstance(table, PackedAttention):
        return OWN
    call = example_call(model, dtype, max_tokens)
    windows = {part.sliding_window for part in model.modules() if hasattr(part, "sliding_window")} or {None}
    calls = (call._replace(sliding_window=window) for window in windows)
    return "+".join(sorted({table.backend_for(each).name for each in calls}))


def example_call(model: PreTrainedModel, dtype: torch.dtype, max_tokens: int) -> AttentionCall:
    """Make a call like those of a model's layers without a sliding window, for the choice of a back-end."""
    config = model.config
    heads = int(config.num_attention_heads)
    head_size = int(getattr(config, "head_dim", None) or config.hidden_size // heads)
    query = torch.empty(1, heads, head_size, dtype=dtype, device=model.device)
    key = query[:, : int(getattr(config, "num_key_value_heads", None) or heads)]
    sinks = next(
        (part.sinks for part in model.modules() if isinstance(getattr(part, "sinks", None), nn.Parameter)), None
    )
    return AttentionCall(query, key, key, torch.tensor([0, 1]), (0, 1), max_tokens, 1.0, None, sinks=sinks)


@contextmanager
def own_attention_afterwards(model: PreTrainedModel) -> Iterator[None]:
    """Restore a model's own attention, whichever is set meanwhile."""
    own = model.config._attn_implementation
    try:
        yield
    finally:
        set_attention(model, own)
