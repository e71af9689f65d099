"""Which exceptions mean too little memory, which a broken device, which neither."""

from __future__ import annotations

import pytest
import torch

from service.core.errors import InsufficientMemory, InternalError, ModelError
from service.engine.execution.device_errors import is_broken_device, is_out_of_memory, to_service_error

MEMORY = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    RuntimeError("CUDA error: out of memory"),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    MemoryError(),
]
BROKEN = [
    torch.AcceleratorError("CUDA error: an illegal memory access was encountered"),
    RuntimeError("CUDA error: device-side assert triggered"),
    RuntimeError("CUDA error: unspecified launch failure"),
    RuntimeError("CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx`"),
]
OTHER = [ValueError("a bug"), RuntimeError("mat1 and mat2 shapes cannot be multiplied"), ModelError("no such model")]


@pytest.mark.parametrize("error", MEMORY, ids=repr)
def test_too_little_memory(error: Exception) -> None:
    assert is_out_of_memory(error)
    assert not is_broken_device(error)
    assert isinstance(to_service_error(error), InsufficientMemory)


@pytest.mark.parametrize("error", BROKEN, ids=repr)
def test_a_broken_device(error: Exception) -> None:
    assert is_broken_device(error)
    assert not is_out_of_memory(error)


@pytest.mark.parametrize("error", OTHER, ids=repr)
def test_a_fault_of_this_batch_alone(error: Exception) -> None:
    assert not is_broken_device(error)
    assert not is_out_of_memory(error)


def test_a_typed_failure_stays_what_it_is_and_others_become_internal_ones() -> None:
    assert to_service_error(OTHER[2]) is OTHER[2]
    assert isinstance(to_service_error(OTHER[0]), InternalError)
