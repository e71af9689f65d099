"""Module swaps: modules of a model are replaced by others that compute the same, and restored if the model then fails.

Knows nothing of the new modules. Some architectures read a layer's weights themselves; only a trial run shows that.
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
    """A module whose weights are laid out for a matrix product, so they are no parameters that could be counted."""

    weight_bytes: int


@dataclass(frozen=True, slots=True)
class ModuleSwap:
    """A child of a module, by name, and its replacement."""

    parent: nn.Module
    name: str
    new: nn.Module


def swap_or_restore(swaps: Sequence[ModuleSwap], trial: Callable[[], object]) -> bool:
    """Make all swaps and run the model by `trial`; if that fails, restore all modules and return False."""
    old = [ModuleSwap(each.parent, each.name, getattr(each.parent, each.name)) for each in swaps]
    _apply(swaps)
    try:
        trial()
    except (RuntimeError, AttributeError, TypeError) as error:
        _apply(old)
        log.info("layers stay as they are", extra={"reason": f"{type(error).__name__}: {error}"})
        return False
    return True


def children(model: nn.Module) -> Iterator[tuple[nn.Module, str, nn.Module]]:
    """Every (parent, name, child) of a model."""
    return ((parent, name, child) for parent in model.modules() for name, child in parent.named_children())


def without_gelu(parents: Sequence[nn.Module]) -> list[ModuleSwap]:
    """The swaps that take GELU out of parents whose linear layer computes it as well."""
    return [ModuleSwap(parent, _ACTIVATION, nn.Identity()) for parent in parents if has_gelu(parent)]


def has_gelu(module: nn.Module) -> bool:
    """True for BERT's module of a linear layer that is followed by GELU, and by nothing else."""
    activation = getattr(module, _ACTIVATION, None)
    return isinstance(activation, GELUActivation) and set(dict(module.named_children())) == {"dense", _ACTIVATION}


def _apply(swaps: Sequence[ModuleSwap]) -> None:
    for each in swaps:
        setattr(each.parent, each.name, each.new)
