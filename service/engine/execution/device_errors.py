"""Device errors: classifies an exception of a forward pass as out of memory, a broken device, or a failed batch.

By their texts, since torch raises most of CUDA's errors as plain RuntimeErrors. Which texts there are is in torch's
`c10/cuda` (allocator, driver) and `ATen/cuda`, `ATen/cudnn` (libraries).
"""

from __future__ import annotations

import torch

from service.core.errors import GleanerError, InsufficientMemory, InternalError
from service.engine.device.selection import free_bytes

_MEMORY = (
    "out of memory",
    "DefaultCPUAllocator: can't allocate memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
    "NVML_SUCCESS == r INTERNAL ASSERT FAILED",
)
"""The last one: torch was about to say who holds the memory that it did not get, and NVML did not tell it."""

_NO_HANDLE = ("CUBLAS_STATUS_NOT_INITIALIZED", "CUDNN_STATUS_NOT_INITIALIZED")
"""What a library says when it finds no memory for a thread's handle, and also when the context is lost."""
HANDLE_BYTES = 64 << 20
"""With less free memory than this it was the memory: cuBLAS's workspace has up to 32 MiB, and comes in large steps."""

_THIS_LAUNCH = (
    "invalid configuration argument",
    "invalid argument",
    "no kernel image is available",
    "too many resources requested for launch",
    "CUBLAS_STATUS_INVALID_VALUE",
    "CUBLAS_STATUS_NOT_SUPPORTED",
    "CUBLAS_STATUS_ARCH_MISMATCH",
)
"""Refused before anything ran: the context is as it was, and a smaller batch may be launched."""

_BROKEN = (
    "CUDA error",
    "CUDA driver error",
    "CUDA unknown error",
    "CUDA driver initialization failed",
    "No CUDA GPUs are available",
    "device-side assert",
    "GPU is lost",
    "unhandled cuda error",
    "CUBLAS_STATUS_EXECUTION_FAILED",
    "CUBLAS_STATUS_INTERNAL_ERROR",
    "CUDNN_STATUS_EXECUTION_FAILED",
    "CUDNN_STATUS_INTERNAL_ERROR",
    "CUDNN_STATUS_MAPPING_ERROR",
    *_NO_HANDLE,
)
"""`CUDA driver error` comes from the allocator with expandable segments, which calls the driver itself."""


class DeviceBroken(Exception):
    """The device's context is lost: every later batch of this process would fail."""


def is_out_of_memory(error: BaseException) -> bool:
    """True when memory ran out; a smaller batch may fit."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    if not isinstance(error, RuntimeError):
        return False
    return _says(error, _MEMORY) or (_says(error, _NO_HANDLE) and _memory_is_short())


def is_broken_device(error: BaseException) -> bool:
    """True when the device's context is lost, as after a device-side assertion."""
    if isinstance(error, DeviceBroken):
        return True
    if not isinstance(error, RuntimeError) or is_out_of_memory(error) or _says(error, _THIS_LAUNCH):
        return False
    return isinstance(error, torch.AcceleratorError) or _says(error, _BROKEN)


def to_service_error(error: Exception) -> GleanerError:
    """The error to report for a failed batch; it holds nothing of the documents."""
    if isinstance(error, GleanerError):
        return error
    if is_out_of_memory(error):
        return InsufficientMemory("this sequence alone does not fit the device's free memory")
    return InternalError(f"the model failed on this sequence: {type(error).__name__}")


def _says(error: BaseException, texts: tuple[str, ...]) -> bool:
    return any(text in str(error) for text in texts)


def _memory_is_short() -> bool:
    """True when the device answers that it has too little memory for a library's handle."""
    free = free_bytes()
    return free is not None and free < HANDLE_BYTES
