"""Device errors: classifies an exception of a forward pass as out of memory, a broken device, or a failed batch."""

from __future__ import annotations

import torch

from service.core.errors import GleanerError, InsufficientMemory, InternalError

_MEMORY = ("DefaultCPUAllocator: can't allocate memory", "CUBLAS_STATUS_ALLOC_FAILED", "out of memory")
"""torch's CPU allocator and some CUDA libraries raise plain RuntimeErrors."""

_BROKEN = ("CUDA error", "device-side assert", "GPU is lost", "CUBLAS_STATUS_EXECUTION_FAILED", "unhandled cuda error")


class DeviceBroken(Exception):
    """The device's context is lost: every later batch of this process would fail."""


def is_out_of_memory(error: Exception) -> bool:
    """True when memory ran out; a smaller batch may fit."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in _MEMORY)


def is_broken_device(error: Exception) -> bool:
    """True when the device's context is lost, as after a device-side assertion."""
    if is_out_of_memory(error):
        return False
    says_so = isinstance(error, RuntimeError) and any(words in str(error) for words in _BROKEN)
    return says_so or isinstance(error, torch.AcceleratorError)


def to_service_error(error: Exception) -> GleanerError:
    """The error to report for a failed batch; it holds nothing of the documents."""
    if isinstance(error, GleanerError):
        return error
    if is_out_of_memory(error):
        return InsufficientMemory("this sequence alone does not fit the device's free memory")
    return InternalError(f"the model failed on this sequence: {type(error).__name__}")
