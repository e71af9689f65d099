"""Layer subset: reduces a model to the first layers of each kind for a while, for profiles and checks.

In inference a layer's activations are freed when the next one has run, so a batch has the same peak of memory with 4
layers as with 24; and a check of one layer's borders holds for all layers of its kind. Layers are of one kind if
they have the same class, sizes and settings in all of their parts. A model that is not built of one list of layers
keeps them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

import torch

_OWN_NUMBER = frozenset({"layer_idx", "layer_id", "layer_index"})
"""Attributes in which layers of one kind differ."""
_PLAIN = (bool, int, float, str, type(None), tuple)


@contextmanager
def first_layers_only(model: torch.nn.Module, kept: int) -> Iterator[None]:
    """Keep only the first `kept` layers of each kind meanwhile."""
    place = list_of_layers(model)
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


def list_of_layers(model: torch.nn.Module) -> tuple[torch.nn.Module, str, torch.nn.ModuleList] | None:
    """Find parent, name and list of a model's outermost layers; None if there are several lists, or none."""
    found: list[tuple[torch.nn.Module, str, torch.nn.ModuleList]] = []
    to_visit = [model]
    while to_visit:
        parent = to_visit.pop()
        for name, child in parent.named_children():
            if isinstance(child, torch.nn.ModuleList):
                found.append((parent, name, child))
            else:
                to_visit.append(child)
    return found[0] if len(found) == 1 else None


def _kind(layer: torch.nn.Module) -> Hashable:
    """Describe a layer; equal for layers that differ only in weights."""
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
