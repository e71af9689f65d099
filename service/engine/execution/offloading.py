"""Encoder wrappers whose weights can be offloaded from the device and loaded again.

On a GPU the weights are kept in pinned host memory, from which they are copied at the full rate of the bus. A CPU has
no second memory: there an offloaded model is dropped and loaded again from its folder, which the page cache holds as
long as it can. Which model is offloaded when is decided elsewhere. Everything after construction is called from the
compute thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import torch

from service.core.arrays import Logits, TokenIds
from service.core.errors import InternalError
from service.engine.execution.encoder_protocol import Encoder


class Offloadable(Encoder, Protocol):
    """An encoder whose weights can be off the device; `forward` raises InternalError then."""

    def offload(self) -> None:
        """Free the device memory of the weights."""

    def load(self) -> None:
        """Bring the weights back to the device; nothing happens if they are there."""


class ReloadedFromDisk:
    """Is offloaded by dropping its encoder; `reload` makes the same one again."""

    def __init__(self, encoder: Encoder, reload: Callable[[], Encoder]) -> None:
        self.device = encoder.device
        self.max_tokens = encoder.max_tokens
        self._encoder: Encoder | None = encoder
        self._reload = reload

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        """Logits of each sequence. Raises InternalError while the model is offloaded."""
        return _require_loaded(self._encoder).forward(sequences)

    def offload(self) -> None:
        """Drop the encoder with its weights."""
        self._encoder = None

    def load(self) -> None:
        """Make the encoder again. Raises what `reload` raises; the model then stays offloaded."""
        self._encoder = self._encoder or self._reload()


class HostOffloaded:
    """Is offloaded to host memory, where its copy stays: weights never change, so offloading again copies nothing.

    Args:
        module: whose weights they are.
        before_offload: called while the weights are still on the device, to drop what holds their addresses.
    """

    def __init__(
        self, encoder: Encoder, module: torch.nn.Module, before_offload: Callable[[], None] = lambda: None
    ) -> None:
        self.device = encoder.device
        self.max_tokens = encoder.max_tokens
        self._encoder = encoder
        self._module = module
        self._before_offload = before_offload
        self._copies: list[torch.Tensor] = []
        self._offloaded = False

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        """Logits of each sequence. Raises InternalError while the weights are offloaded."""
        return _require_loaded(None if self._offloaded else self._encoder).forward(sequences)

    def offload(self) -> None:
        """Copy the weights to host memory, the first time, and free the device's."""
        self._offloaded = True
        self._before_offload()
        tensors = self._tensors()
        self._copies = self._copies or [_pinned(tensor) for tensor in tensors]
        for tensor, copy in zip(tensors, self._copies, strict=True):
            tensor.data = copy

    def load(self) -> None:
        """Copy the weights to the device.

        Raises:
            torch.OutOfMemoryError: they do not fit, and stay offloaded.
        """
        if not self._offloaded:
            return
        loaded = [copy.to(self.device, non_blocking=True, copy=True) for copy in self._copies]
        for tensor, data in zip(self._tensors(), loaded, strict=True):
            tensor.data = data
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        self._offloaded = False

    def _tensors(self) -> list[torch.Tensor]:
        return [*self._module.parameters(), *self._module.buffers()]


def _pinned(tensor: torch.Tensor) -> torch.Tensor:
    copy = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=tensor.device.type == "cuda")
    copy.copy_(tensor)
    return copy


def _require_loaded(encoder: Encoder | None) -> Encoder:
    if encoder is None:
        raise InternalError("the model's weights are not on the device; the engine's log says why they did not come")
    return encoder
