"""Encoder wrappers whose weights can be offloaded from the device and loaded again.

On a GPU the weights are in pinned host memory too, from which they are copied at the full rate of the bus. A CPU has
no second memory: there an offloaded model is dropped and loaded again from its folder, which the page cache holds as
long as it can. Which model is offloaded when is decided elsewhere. Weights are moved on the compute thread, while no
batch runs.
"""

from __future__ import annotations

import logging
import mmap
import threading
import weakref
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, Protocol

import torch

from service.core.arrays import Logits, TokenIds
from service.core.errors import InternalError
from service.engine.execution.device_errors import is_out_of_memory
from service.engine.execution.encoder_wrappers import Encoder

ALIGNMENT_BYTES = 256
"""Alignment of CUDA's own allocations at least; matrix products and vectorized kernels choose by it."""

log = logging.getLogger(__name__)


class Offloadable(Encoder, Protocol):
    """An encoder whose weights can be off the device; `forward` raises InternalError then."""

    def offload(self) -> None:
        """Free the device memory of the weights."""

    def load(self) -> None:
        """Bring the weights back to the device, unless they are there."""


class ReloadedFromDisk:
    """Encoder that is dropped to offload it; `reload` makes it again.

    After a failed allocation it is dropped too, and made again for the next batch: OpenVINO cannot continue with it.
    """

    def __init__(self, encoder: Encoder, reload: Callable[[], Encoder]) -> None:
        self._encoder: Encoder | None = encoder
        self._reload = reload
        self._is_offloaded = False
        self._changing = threading.Lock()

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        """Logits of each sequence. Raises InternalError while the model is offloaded."""
        with self._changing:
            if self._encoder is None and not self._is_offloaded:
                self._encoder = self._reload()
            encoder = _require_loaded(self._encoder)
        try:
            return encoder.forward(sequences)
        except Exception as error:
            with self._changing:
                if is_out_of_memory(error) and self._encoder is encoder:
                    self._encoder = None
            raise

    def offload(self) -> None:
        with self._changing:
            self._encoder, self._is_offloaded = None, True

    def load(self) -> None:
        """Make the encoder again. Raises what `reload` raises; the model then stays offloaded."""
        with self._changing:
            self._encoder = self._encoder or self._reload()
            self._is_offloaded = False


class HostOffloaded:
    """Encoder whose weights have a copy in host memory from the start: they never change, so offloading copies nothing.

    All weights lie in one buffer, and one copy brings them back.

    Args:
        module: the module with the weights, on the device.
    """

    def __init__(self, encoder: Encoder, module: torch.nn.Module) -> None:
        self._encoder = encoder
        self._module = module
        self._device = next(module.parameters()).device
        self._on_host = HostCopy(self._tensors(), pinned=self._device.type == "cuda")
        self._offloaded = False

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        """Logits of each sequence. Raises InternalError while the weights are offloaded."""
        return _require_loaded(None if self._offloaded else self._encoder).forward(sequences)

    def offload(self) -> None:
        """Free the device memory of the weights."""
        self._offloaded = True
        self._use(self._on_host.tensors())

    def load(self) -> None:
        """Copy the weights to the device.

        Raises:
            torch.OutOfMemoryError: they do not fit, and stay offloaded.
        """
        if not self._offloaded:
            return
        self._use(self._on_host.copied_to(self._device))
        self._offloaded = False

    def _use(self, weights: Sequence[torch.Tensor]) -> None:
        for tensor, data in zip(self._tensors(), weights, strict=True):
            tensor.data = data

    def _tensors(self) -> list[torch.Tensor]:
        return [*self._module.parameters(), *self._module.buffers()]


class HostCopy:
    """Copy of tensors in one host buffer, end to end, each aligned to `ALIGNMENT_BYTES`."""

    def __init__(self, tensors: Sequence[torch.Tensor], *, pinned: bool) -> None:
        self._like = [(tensor.dtype, tensor.shape) for tensor in tensors]
        sizes = [-(-tensor.nbytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES for tensor in tensors]
        self._borders = (0, *accumulate(sizes))
        self._buffer = HostBuffer(self._borders[-1], pinned=pinned)
        for tensor, copy in zip(tensors, self.tensors(), strict=True):
            copy.copy_(tensor)

    def tensors(self) -> list[torch.Tensor]:
        return self._views(self._buffer.tensor)

    def copied_to(self, device: torch.device) -> list[torch.Tensor]:
        """Copy the tensors to one block on a device, and return views of it. Raises torch.OutOfMemoryError."""
        block = self._buffer.tensor.to(device, non_blocking=True, copy=True)
        if device.type == "cuda":
            arrived = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]
            arrived.record(torch.cuda.current_stream(device))
            arrived.synchronize()
        return self._views(block)

    def _views(self, block: torch.Tensor) -> list[torch.Tensor]:
        return [
            block[start : start + shape.numel() * dtype.itemsize].view(dtype).view(shape)
            for (dtype, shape), start in zip(self._like, self._borders, strict=False)
        ]


class HostBuffer:
    """Host memory of exactly this size, pinned on request; a failure to pin is logged.

    Torch's own allocator of pinned memory would round each block up to a power of two and keep it for ever.

    Attributes:
        tensor: [size] uint8.
    """

    def __init__(self, size_bytes: int, *, pinned: bool) -> None:
        self.tensor = torch.frombuffer(mmap.mmap(-1, max(size_bytes, 1)), dtype=torch.uint8)[:size_bytes]
        if not pinned:
            return
        if int(_cuda().cudaHostRegister(self.tensor.data_ptr(), max(size_bytes, 1), 0)) != 0:
            log.warning("memory cannot be pinned; weights will be loaded more slowly", extra={"bytes": size_bytes})
            return
        weakref.finalize(self, _unpin_elsewhere, self.tensor).atexit = False


def _unpin_elsewhere(tensor: torch.Tensor) -> None:
    """Unpin in a new thread: any thread may drop a buffer last, and the loop's must not wait for the driver."""
    threading.Thread(target=_unpin, args=(tensor,), name="unpin", daemon=True).start()


def _unpin(tensor: torch.Tensor) -> None:
    _cuda().cudaHostUnregister(tensor.data_ptr())


def _cuda() -> Any:
    return torch.cuda.cudart()  # type: ignore[no-untyped-call]


def _require_loaded(encoder: Encoder | None) -> Encoder:
    if encoder is None:
        raise InternalError("the model's weights are not on the device; the engine's log says why they did not come")
    return encoder
