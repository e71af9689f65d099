"""A check, before anything is captured, that a forward pass can become a CUDA graph.

A graph replays what was queued on the device and runs no Python. A pass that waits for the device to read a value, or
that copies between host and device, cannot be captured; CUDA and torch recover badly from an attempt (capture.py).
torch tags the operators whose result depends on values (`torch.Tag`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter

READS_VALUES = frozenset({torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape})
COPIES = ("aten::_to_copy", "aten::copy_")


class NotCapturable(Exception):
    """This forward pass cannot be captured; the device is as it was."""


class ForbidDeviceSync(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """While entered, operators of this thread that wait for the device raise NotCapturable."""

    def __torch_dispatch__(
        self, operator: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = operator.name()
        if torch.is_inference_mode_enabled():  # Outside inference mode composite operators arrive in parts already.
            with self:
                parts = operator.decompose(*args, **kwargs)
            if parts is not NotImplemented:
                return parts
        if not READS_VALUES.isdisjoint(operator.tags) and not _takes_places(name, args):
            raise NotCapturable(f"{name} waits for the device")
        result = operator(*args, **kwargs)
        if name.startswith(COPIES) and len({each.device for each in _tensors((args, result))}) > 1:
            raise NotCapturable(f"{name} copies between host and device")
        return result


def require_capturable(work: Callable[[], object]) -> None:
    """Run a forward pass once.

    Raises:
        NotCapturable: it waits for the device, and was stopped there, or it failed.
    """
    try:
        with ForbidDeviceSync():  # type: ignore[no-untyped-call]
            work()
    except NotCapturable:
        raise
    except Exception as error:  # Nothing was captured yet, and a broken device fails the next batch as well.
        raise NotCapturable(f"{type(error).__name__}: {error}") from error


def _takes_places(name: str, args: tuple[Any, ...]) -> bool:
    """True for indexing with integers, whose result has the indices' shape; with a mask it depends on its values."""
    masks = (torch.bool, torch.uint8)
    return name == "aten::index.Tensor" and not any(each.dtype in masks for each in _tensors(args[1]))


def _tensors(tree: object) -> Iterator[torch.Tensor]:
    return (each for each in tree_iter(tree) if isinstance(each, torch.Tensor))
