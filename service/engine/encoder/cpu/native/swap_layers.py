"""The swap of a model's layers for one call each, where all parts of a layer are compiled (swap_linears.py).

Saves the time of Python, transformers and torch between the parts, and passes over memory. A layer is swapped if the
new one computes the same on a few rows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from service.engine.encoder.cpu.module_swap import ModuleSwap, PrepackedModule, children, swap_or_restore
from service.engine.encoder.cpu.native.layer import Layer, Parts, supports
from service.engine.encoder.cpu.native.swap_linears import CompiledLinear

_SELF = "attention.self"
_PARTS = (f"{_SELF}.query", f"{_SELF}.key", f"{_SELF}.value", "attention.output", "intermediate.dense", "output")
"""Names of linear layers in the order of `Parts`; of those with residual and normalisation, their modules' names."""
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
        """[1, total, hidden] bfloat16 → the same shape; `borders` are cumulative lengths, from 0 to total."""
        return self._layer(hidden_states, borders, int8=self._int8)


def join_layers(model: nn.Module, trial: Callable[[], Sequence[NDArray[np.float32]]], *, int8: bool = False) -> int:
    """Swap the layers of a packed model whose linear layers were swapped; returns how many.

    Args:
        trial: the model's logits for a few sequences; all layers stay if they would change.
        int8: the model's attention computes in 8-bit integers.
    """
    swaps = [
        ModuleSwap(parent, name, joined)
        for parent, name, child in children(model)
        if (joined := _joined(child, int8=int8))
    ]
    if not swaps:
        return 0
    before = trial()

    def require_same_logits() -> None:
        if not all(map(np.array_equal, before, trial())):
            raise RuntimeError("the logits changed")

    return len(swaps) if swap_or_restore(swaps, require_same_logits) else 0


def _joined(layer: nn.Module, *, int8: bool) -> NativeLayer | None:
    """The new layer for one with the parts of BERT's; None if the two compute different results on a few rows."""
    compiled = {name: module for name, module in layer.named_modules() if isinstance(module, CompiledLinear)}
    if set(compiled) != set(_PARTS) or next(layer.parameters(), None) is not None:
        return None
    parts = Parts(*(compiled[name].product for name in _PARTS))
    heads = getattr(layer.get_submodule(_SELF), "num_attention_heads", 0)
    if not supports(parts, heads):
        return None
    joined = NativeLayer(Layer(parts, heads), int8=int8)
    return joined if _compute_the_same(layer, joined, parts.query.inputs) else None


@torch.inference_mode()
def _compute_the_same(layer: nn.Module, joined: NativeLayer, hidden: int) -> bool:
    total = _TRIAL_BORDERS[-1]
    rows = torch.randn(1, total, hidden, generator=torch.Generator().manual_seed(0)).bfloat16()
    # A layer with a sliding window takes its windowed path with this max_length, and fails the comparison.
    lengths = {"cu_seqlens": torch.tensor(_TRIAL_BORDERS, dtype=torch.int32), "max_length": sys.maxsize}
    try:
        return torch.equal(layer(rows, None, borders=_TRIAL_BORDERS, **lengths), joined(rows, borders=_TRIAL_BORDERS))
    except (RuntimeError, TypeError, AttributeError):
        return False
