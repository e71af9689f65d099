"""What keeps a forward pass from being recorded, found before anything is.

A recording repeats what was queued on the device and runs no Python. So a pass that waits for the device to look at
numbers, or copies between host and device, cannot be recorded; and CUDA takes a recording that tries badly, and torch
worse (`cuda_recorder.py`). Tensors' operators say which of them look at numbers (`torch.Tag`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter

LOOKS_AT_NUMBERS = frozenset({torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape})
COPIES = ("aten::_to_copy", "aten::copy_")


class NotCapturable(Exception):
    """This forward pass cannot be recorded; the device is as it was."""


class ForbidDeviceSync(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """While entered, operators of this thread that wait for the device raise NotRecordable."""

    def __torch_dispatch__(
        self, operator: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = operator.name()
        if torch.is_inference_mode_enabled():  # Elsewhere, operators made of others come in parts already.
            with self:
                parts = operator.decompose(*args, **kwargs)
            if parts is not NotImplemented:
                return parts
        if not LOOKS_AT_NUMBERS.isdisjoint(operator.tags):
            raise NotCapturable(f"{name} waits for the device")
        result = operator(*args, **kwargs)
        if name.startswith(COPIES) and len({each.device for each in _tensors((args, result))}) > 1:
            raise NotCapturable(f"{name} copies between host and device")
        return result


def demand_recordable(work: Callable[[], object]) -> None:
    """Do it once. Raises NotRecordable if it waits for the device, and is then not done to its end, or if it fails."""
    try:
        with ForbidDeviceSync():  # type: ignore[no-untyped-call]
            work()
    except NotCapturable:
        raise
    except Exception as error:  # Whatever it is, nothing was recorded yet; a device that broke says so in a batch.
        raise NotCapturable(f"{type(error).__name__}: {error}") from error


def _tensors(tree: object) -> Iterator[torch.Tensor]:
    return (each for each in tree_iter(tree) if isinstance(each, torch.Tensor))
