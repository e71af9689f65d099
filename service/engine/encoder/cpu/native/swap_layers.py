"""Layers of BERT's kind as one call each, where all their parts are compiled for the processor (`encoder_native`).

Beside the parts one by one this saves what Python, transformers and torch take in between, and passes over memory.
Owns the exchange; whether a layer is of this kind it learns from what the layer computes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from service.engine.encoder.cpu.module_swap import ModuleSwap, PrepackedModule, children, swap_or_restore
from service.engine.encoder.cpu.native.layer import Layer, Parts, can
from service.engine.encoder.cpu.native.swap_linears import Compiled

_SELF = "attention.self"
_PARTS = (f"{_SELF}.query", f"{_SELF}.key", f"{_SELF}.value", "attention.output", "intermediate.dense", "output")
"""The names of linear layers in the order of `Parts`, those with residual and normalisation by their modules'."""
_TRIAL_BORDERS = (0, 2, 5)


class NativeLayer(PrepackedModule):
    """Computes what a layer of BERT's encoder computes on a packed row."""

    def __init__(self, layer: Layer, *, int8: bool) -> None:
        super().__init__()
        self._layer = layer
        self._int8 = int8
        self.weight_bytes = layer.weight_bytes

    def forward(
        self, hidden_states: torch.Tensor, *_unused: object, borders: tuple[int, ...], **_unneeded: object
    ) -> torch.Tensor:
        """[1, total, hidden] bfloat16 → the same shape; see `attention.packed_attention` for the borders."""
        return self._layer(hidden_states, borders, int8=self._int8)


def join_layers(model: nn.Module, trial: Callable[[], Sequence[NDArray[np.float32]]], *, int8: bool = False) -> int:
    """Exchange the layers of a model that takes packed rows, and whose linear layers are exchanged; returns how many.

    Args:
        trial: what the model answers to a few sequences; all layers stay as they are if it would be anything else.
    """
    exchanges = [
        ModuleSwap(parent, name, joined)
        for parent, name, child in children(model)
        if (joined := _joined(child, int8=int8))
    ]
    if not exchanges:
        return 0
    before = trial()

    def same() -> None:
        if not all(map(np.array_equal, before, trial())):
            raise RuntimeError("the model answers otherwise")

    return len(exchanges) if swap_or_restore(exchanges, same) else 0


def _joined(layer: nn.Module, *, int8: bool) -> NativeLayer | None:
    """A layer with the parts of BERT's, if on a few rows it does with them what ours does."""
    ours = {name: module for name, module in layer.named_modules() if isinstance(module, Compiled)}
    if set(ours) != set(_PARTS) or next(layer.parameters(), None) is not None:
        return None
    parts = Parts(*(ours[name].product for name in _PARTS))
    heads = getattr(layer.get_submodule(_SELF), "num_attention_heads", 0)
    if not can(parts, heads):
        return None
    joined = NativeLayer(Layer(parts, heads), int8=int8)
    return joined if _compute_the_same(layer, joined, parts.query.inputs) else None


@torch.inference_mode()
def _compute_the_same(layer: nn.Module, joined: NativeLayer, hidden: int) -> bool:
    total = _TRIAL_BORDERS[-1]
    rows = torch.randn(1, total, hidden, generator=torch.Generator().manual_seed(0)).bfloat16()
    # A window that the longest sequence does not fill would go unnoticed, so let that be as long as can be.
    lengths = {"cu_seqlens": torch.tensor(_TRIAL_BORDERS, dtype=torch.int32), "max_length": sys.maxsize}
    try:
        return torch.equal(layer(rows, None, borders=_TRIAL_BORDERS, **lengths), joined(rows, borders=_TRIAL_BORDERS))
    except (RuntimeError, TypeError, AttributeError):
        return False
