"""Token classifiers whose weights can leave the device and come back.

On a GPU they wait in pinned host memory, from which they come at the full rate of the bus. A CPU has no second memory:
there a model that leaves is dropped, and made again from its folder, which the page cache holds as long as it can.
Owns the two ways; who leaves when is decided elsewhere. All calls but the first come from the compute thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import torch

from service.core.arrays import Logits, TokenIds
from service.core.errors import InternalError
from service.engine.execution.encoder_protocol import Encoder


class Offloadable(Encoder, Protocol):
    """A token classifier that can be away."""

    def leave(self) -> None: ...

    def come(self) -> None: ...


class ReloadedFromDisk:
    """Leaves by being dropped; comes back from `make`, which gives the same model each time."""

    def __init__(self, present: Encoder, make: Callable[[], Encoder]) -> None:
        self.device = present.device
        self.max_tokens = present.max_tokens
        self._present: Encoder | None = present
        self._make = make

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        """Logits of each sequence. Raises InternalError while the model is away."""
        return _present(self._present).forward(sequences)

    def leave(self) -> None:
        """Give up the weights."""
        self._present = None

    def come(self) -> None:
        """Make the model again. Raises whatever stands in its way."""
        self._present = self._present or self._make()


class HostOffloaded:
    """Leaves to host memory, where its copy is kept: weights never change, so leaving again costs nothing.

    Args:
        forget: called before the weights leave, to drop whatever holds their addresses.
    """

    def __init__(self, classifier: Encoder, module: torch.nn.Module, forget: Callable[[], None] = lambda: None) -> None:
        self.device = classifier.device
        self.max_tokens = classifier.max_tokens
        self._classifier = classifier
        self._module = module
        self._forget = forget
        self._copies: list[torch.Tensor] = []
        self._away = False

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        """Logits of each sequence. Raises InternalError while the weights are away."""
        return _present(None if self._away else self._classifier).forward(sequences)

    def leave(self) -> None:
        """Copy the weights to host memory, the first time, and free the device's."""
        self._away = True
        self._forget()
        tensors = self._tensors()
        self._copies = self._copies or [_pinned(tensor) for tensor in tensors]
        for tensor, copy in zip(tensors, self._copies, strict=True):
            tensor.data = copy

    def come(self) -> None:
        """Copy the weights to the device. Raises torch.OutOfMemoryError if there is no room; they then stay away."""
        if not self._away:
            return
        there = [copy.to(self.device, non_blocking=True, copy=True) for copy in self._copies]
        for tensor, data in zip(self._tensors(), there, strict=True):
            tensor.data = data
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        self._away = False

    def _tensors(self) -> list[torch.Tensor]:
        return [*self._module.parameters(), *self._module.buffers()]


def _pinned(tensor: torch.Tensor) -> torch.Tensor:
    copy = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=tensor.device.type == "cuda")
    copy.copy_(tensor)
    return copy


def _present(classifier: Encoder | None) -> Encoder:
    if classifier is None:
        raise InternalError("the model's weights are not on the device; the engine's log says why they did not come")
    return classifier
