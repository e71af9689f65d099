"""Modules of a model exchanged for others that compute the same, and put back where the model's code balks.

Does not know what the others do. Some architectures read a layer's weights themselves; only running them tells.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from torch import nn
from transformers.activations import GELUActivation

_ACTIVATION = "intermediate_act_fn"

log = logging.getLogger(__name__)


class PrepackedModule(nn.Module):
    """A module whose weights are laid out for a product, and so are no parameters that others could count."""

    weight_bytes: int


@dataclass(frozen=True, slots=True)
class ModuleSwap:
    """A child of a module, and what is to stand in its place."""

    parent: nn.Module
    name: str
    new: nn.Module


def swap_or_restore(exchanges: Sequence[ModuleSwap], trial: Callable[[], object]) -> bool:
    """Exchange them all; put all back, and say no, if `trial`, which runs the model once, fails then."""
    old = [ModuleSwap(each.parent, each.name, getattr(each.parent, each.name)) for each in exchanges]
    _put(exchanges)
    try:
        trial()
    except (RuntimeError, AttributeError, TypeError) as error:
        _put(old)
        log.info("layers stay as they are", extra={"reason": f"{type(error).__name__}: {error}"})
        return False
    return True


def children(model: nn.Module) -> Iterator[tuple[nn.Module, str, nn.Module]]:
    """Every (parent, name, child) of a model."""
    return ((parent, name, child) for parent in model.modules() for name, child in parent.named_children())


def without_gelu(parents: Sequence[nn.Module]) -> list[ModuleSwap]:
    """For those whose linear layer does GELU as well."""
    return [ModuleSwap(parent, _ACTIVATION, nn.Identity()) for parent in parents if has_gelu(parent)]


def has_gelu(module: nn.Module) -> bool:
    """Whether this is BERT's way of writing a linear layer that is followed by GELU at once, and by nothing else."""
    activation = getattr(module, _ACTIVATION, None)
    return isinstance(activation, GELUActivation) and set(dict(module.named_children())) == {"dense", _ACTIVATION}


def _put(exchanges: Sequence[ModuleSwap]) -> None:
    for each in exchanges:
        setattr(each.parent, each.name, each.new)
