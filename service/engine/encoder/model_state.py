"""Model state: restores the attributes of a model's modules, weights aside, after a forward pass that changed them.

Some models change themselves as they run: BigBird turns from sparse to full attention at its first short row, and stays
so. Then a row's logits would depend on the rows before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn

PLAIN = (bool, int, float, str, type(None))
"""Types of attributes that are settings."""


def changes_itself(model: nn.Module, run: Callable[[], object]) -> bool:
    """True if a run of the model changes the state of one of its modules; the state is restored."""
    before = _state(model)
    try:
        run()
        return any(_now(part) != held for part, held in before)
    finally:
        _put_back(before)


@contextmanager
def state_kept(model: nn.Module) -> Iterator[None]:
    """Restore the state that a model changes meanwhile."""
    before = _state(model)
    try:
        yield
    finally:
        _put_back(before)


_Held = tuple[dict[str, Any], dict[str, nn.Module | None]]
"""A module's settings and parts."""


def _state(model: nn.Module) -> list[tuple[nn.Module, _Held]]:
    return [(part, _now(part)) for part in model.modules()]


def _now(part: nn.Module) -> _Held:
    return {key: value for key, value in vars(part).items() if isinstance(value, PLAIN)}, dict(part._modules)


def _put_back(before: list[tuple[nn.Module, _Held]]) -> None:
    for part, held in before:
        now = _now(part)
        if now == held:
            continue
        for key in now[0].keys() - held[0].keys():
            delattr(part, key)
        vars(part).update(held[0])
        part._modules.clear()
        part._modules.update(held[1])
