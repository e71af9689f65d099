"""Pinned host memory of exactly the size asked for, from which a GPU copies at the full rate of the bus.

Not from torch's own allocator of pinned memory, which rounds each block up to a power of two and keeps it for ever.
"""

from __future__ import annotations

import logging
import mmap
import threading
import weakref
from typing import Any

import torch

log = logging.getLogger(__name__)


class HostBuffer:
    """Host memory of its own, pinned if asked for; where it cannot be pinned it stays as it is, and that is logged.

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
    """In a thread of its own: who drops a buffer last is chance, and the loop's thread must not wait for the driver."""
    threading.Thread(target=_unpin, args=(tensor,), name="unpin", daemon=True).start()


def _unpin(tensor: torch.Tensor) -> None:
    _cuda().cudaHostUnregister(tensor.data_ptr())


def _cuda() -> Any:
    return torch.cuda.cudart()  # type: ignore[no-untyped-call]
