"""A model with few of its layers for a while, for what few show as well as all: memory at its peak, borders kept apart.

In inference a layer's activations are gone when the next one has run, so a batch needs the same memory at its peak
whether 4 layers follow one another or 24; and whether borders reach a layer does not depend on how many are like it.
Layers are alike if they have the same class, the same sizes and the same settings, in all of their parts; of each kind
the first few stay. A model that is not made of one list of layers keeps them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

import torch

_OWN_NUMBER = frozenset({"layer_idx", "layer_id", "layer_index"})
"""Attributes in which layers differ that compute alike."""
_PLAIN = (bool, int, float, str, type(None), tuple)


@contextmanager
def first_layers_only(model: torch.nn.Module, kept: int) -> Iterator[None]:
    """Leave the first `kept` layers of each kind in their places; afterwards all are back."""
    place = _layers(model)
    if place is None:
        yield
        return
    parent, name, layers = place
    seen: Counter[Hashable] = Counter()
    few = []
    for layer in layers:
        kind = _kind(layer)
        seen[kind] += 1
        if seen[kind] <= kept:
            few.append(layer)
    setattr(parent, name, torch.nn.ModuleList(few))
    try:
        yield
    finally:
        setattr(parent, name, layers)


def _layers(model: torch.nn.Module) -> tuple[torch.nn.Module, str, torch.nn.ModuleList] | None:
    """Where the list of layers is: the one list that is in no other one; None where there are several, or none."""
    found: list[tuple[torch.nn.Module, str, torch.nn.ModuleList]] = []
    waiting = [model]
    while waiting:
        parent = waiting.pop()
        for name, child in parent.named_children():
            if isinstance(child, torch.nn.ModuleList):
                found.append((parent, name, child))
            else:
                waiting.append(child)
    return found[0] if len(found) == 1 else None


def _kind(layer: torch.nn.Module) -> Hashable:
    """Equal for layers that compute alike, their weights apart."""
    return tuple(
        (name, type(part).__qualname__, _settings(part), tuple((key, each.shape) for key, each in _tensors(part)))
        for name, part in layer.named_modules()
    )


def _settings(part: torch.nn.Module) -> Hashable:
    return tuple(
        sorted(
            (key, repr(value))
            for key, value in vars(part).items()
            if key not in _OWN_NUMBER and not key.startswith("_") and isinstance(value, _PLAIN)
        )
    )


def _tensors(part: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    yield from part.named_parameters(recurse=False)
    yield from part.named_buffers(recurse=False)
