"""Which exceptions mean too little memory, which a broken device, which neither."""

from __future__ import annotations

import pytest
import torch

from service.core.errors import InsufficientMemory, InternalError, ModelError
from service.engine.execution.device_errors import (
    DeviceBroken,
    is_broken_device,
    is_out_of_memory,
    to_service_error,
)

MEMORY = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    RuntimeError("CUDA error: out of memory"),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    RuntimeError("CUDA driver error: out of memory"),
    RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
    RuntimeError("NVML_SUCCESS == r INTERNAL ASSERT FAILED at CUDACachingAllocator.cpp:1131, please report a bug"),
    MemoryError(),
]
BROKEN = [
    torch.AcceleratorError("CUDA error: an illegal memory access was encountered"),
    RuntimeError("CUDA error: device-side assert triggered"),
    RuntimeError("CUDA error: unspecified launch failure"),
    RuntimeError("CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx`"),
    RuntimeError("CUDA error: CUBLAS_STATUS_INTERNAL_ERROR when calling `cublasGemmEx`"),
    RuntimeError("CUDA driver error: unspecified launch failure"),
    RuntimeError("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED"),
    RuntimeError("No CUDA GPUs are available"),
    DeviceBroken("AcceleratorError: CUDA error: an illegal memory access was encountered"),
]
OTHER = [ValueError("a bug"), RuntimeError("mat1 and mat2 shapes cannot be multiplied"), ModelError("no such model")]
REFUSED = [
    torch.AcceleratorError("CUDA error: invalid configuration argument"),
    RuntimeError("CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling `cublasLtMatmul`"),
    RuntimeError("CUDA error: no kernel image is available for execution on the device"),
]
NO_HANDLE = RuntimeError("CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`")


@pytest.mark.parametrize("error", MEMORY, ids=repr)
def test_too_little_memory(error: Exception) -> None:
    assert is_out_of_memory(error)
    assert not is_broken_device(error)
    assert isinstance(to_service_error(error), InsufficientMemory)


@pytest.mark.parametrize("error", BROKEN, ids=repr)
def test_a_broken_device(error: Exception) -> None:
    assert is_broken_device(error)
    assert not is_out_of_memory(error)


@pytest.mark.parametrize("error", [*OTHER, *REFUSED], ids=repr)
def test_a_fault_of_this_batch_alone(error: Exception) -> None:
    assert not is_broken_device(error)
    assert not is_out_of_memory(error)


@pytest.mark.parametrize(("free_bytes", "memory"), [(1 << 20, True), (1 << 30, False), (None, False)])
def test_a_library_without_a_handle_lacks_memory_if_the_device_does(
    free_bytes: int | None, memory: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.engine.execution.device_errors.free_bytes", lambda: free_bytes)
    assert is_out_of_memory(NO_HANDLE) == memory
    assert is_broken_device(NO_HANDLE) != memory


def test_a_typed_failure_stays_what_it_is_and_others_become_internal_ones() -> None:
    assert to_service_error(OTHER[2]) is OTHER[2]
    assert isinstance(to_service_error(OTHER[0]), InternalError)
