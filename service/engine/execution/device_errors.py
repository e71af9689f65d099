"""Device errors: classifies an exception of a forward pass as out of memory, a broken device, or a failed batch.

It reads their texts, since torch and OpenVINO raise most errors as plain RuntimeErrors. torch's texts are in c10/cuda
(allocator, driver) and ATen/cuda, ATen/cudnn (libraries).
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
    "std::bad_alloc",
    "could not create a memory object",
    "Failed to allocate",
)
"""Texts of missing memory. NVML's: torch was about to name the memory's holders, and NVML did not tell it. The last
three are from OpenVINO and its oneDNN."""

_NO_HANDLE = ("CUBLAS_STATUS_NOT_INITIALIZED", "CUDNN_STATUS_NOT_INITIALIZED")
"""Texts of a library without memory for a thread's handle, and also with a lost context."""
HANDLE_BYTES = 64 << 20
"""Free bytes below which memory was the cause: cuBLAS's workspace has up to 32 MiB, and comes in large steps."""

_THIS_LAUNCH = (
    "invalid configuration argument",
    "invalid argument",
    "no kernel image is available",
    "too many resources requested for launch",
    "CUBLAS_STATUS_INVALID_VALUE",
    "CUBLAS_STATUS_NOT_SUPPORTED",
    "CUBLAS_STATUS_ARCH_MISMATCH",
)
"""Texts of launches refused before anything ran: the context is intact, and a smaller batch may be launched."""

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
"""Texts of a lost context. `CUDA driver error`: from the allocator with expandable segments, which calls the driver."""


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
    """Make the error to report for a failed batch; it holds nothing of the documents."""
    if isinstance(error, GleanerError):
        return error
    if is_out_of_memory(error):
        return InsufficientMemory("this sequence alone does not fit the device's free memory")
    return InternalError(f"the model failed on this sequence: {type(error).__name__}")


def _says(error: BaseException, texts: tuple[str, ...]) -> bool:
    return any(text in str(error) for text in texts)


def _memory_is_short() -> bool:
    """True when the device answers, and has too little memory for a library's handle."""
    free = free_bytes()
    return free is not None and free < HANDLE_BYTES
