"""Flights: outcomes in order, failures confined to the sequence that caused them, and what an exception means."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
import torch

from service.core.arrays import Logits, TokenIds
from service.core.errors import InsufficientMemory, InternalError, ModelError
from service.engine.execution.device_errors import (
    DeviceBroken,
    is_broken_device,
    is_out_of_memory,
    to_service_error,
)
from service.engine.execution.executor import DeviceExecutor
from service.engine.execution.runner import Outcome, Runner

OUT_OF_MEMORY, BROKEN, CPU_OUT_OF_MEMORY, DEADLY = -1, -2, -3, -4


class FailingEncoder:
    """Gives each token its own id as logit; fails when a marked sequence is in the batch, or too many tokens are."""

    def __init__(self, room_tokens: int = 10_000) -> None:
        self.room_tokens = room_tokens
        self.batches: list[list[int]] = []
        self.threads: set[str] = set()

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        self.batches.append([len(tokens) for tokens in sequences])
        self.threads.add(threading.current_thread().name)
        marks = {int(tokens[0]) for tokens in sequences}
        if OUT_OF_MEMORY in marks or sum(map(len, sequences)) > self.room_tokens:
            raise torch.OutOfMemoryError("CUDA out of memory")
        if CPU_OUT_OF_MEMORY in marks:
            raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 PiB")
        if DEADLY in marks:
            raise torch.AcceleratorError("CUDA error: device-side assert triggered\nCompile with TORCH_USE_CUDA_DSA")
        if BROKEN in marks:
            raise ValueError("a bug")
        return [tokens.astype(np.float32)[:, None] for tokens in sequences]


@pytest.fixture
def compute() -> Iterator[DeviceExecutor]:
    with DeviceExecutor() as executor:
        yield executor


def _runner(compute: DeviceExecutor, encoder: FailingEncoder | None = None) -> Runner:
    return Runner(encoder or FailingEncoder(), compute, lambda: None, pauses_seconds=(0.0, 0.0))


def _sequences(*firsts: int) -> list[TokenIds]:
    return [np.array([first, 1], dtype=np.int32) for first in firsts]


def _names(outcomes: list[Outcome]) -> list[object]:
    return [type(each) if isinstance(each, Exception) else int(each[0, 0]) for each in outcomes]


def test_outcomes_come_in_the_order_launched_and_the_loop_is_woken(compute: DeviceExecutor) -> None:
    woken = threading.Event()
    encoder = FailingEncoder()
    handle = Runner(encoder, compute, woken.set).launch(_sequences(3, 4, 5))
    assert woken.wait(10)
    assert handle.done()
    assert _names(handle.result()) == [3, 4, 5]
    assert handle.splits == 0
    assert handle.seconds > 0
    assert len(encoder.threads) == 1
    assert threading.current_thread().name not in encoder.threads


@pytest.mark.parametrize(
    ("mark", "failure"),
    [(OUT_OF_MEMORY, InsufficientMemory), (CPU_OUT_OF_MEMORY, InsufficientMemory), (BROKEN, InternalError)],
)
@pytest.mark.parametrize("place", range(5))
def test_only_the_sequence_that_fails_alone_fails(
    compute: DeviceExecutor, mark: int, failure: type[Exception], place: int
) -> None:
    firsts = [10, 11, 12, 13, 14]
    expected: list[object] = [*firsts]
    firsts[place], expected[place] = mark, failure
    handle = _runner(compute).launch(_sequences(*firsts))
    assert _names(handle.result()) == expected
    assert 2 <= handle.splits <= 4


def test_a_batch_that_is_too_large_is_halved_until_it_fits(compute: DeviceExecutor) -> None:
    encoder = FailingEncoder(room_tokens=4)
    handle = _runner(compute, encoder).launch(_sequences(*range(8)))
    assert _names(handle.result()) == list(range(8))
    assert handle.splits == 3
    assert [shape.tokens for shape in handle.out_of_memory] == [16, 8, 8]


def test_the_reason_holds_nothing_of_the_document(compute: DeviceExecutor) -> None:
    (outcome,) = _runner(compute).launch(_sequences(BROKEN)).result()
    assert isinstance(outcome, InternalError)
    assert outcome.detail == "the model failed on this sequence: ValueError"


@pytest.mark.parametrize("longest", [100, 512])
def test_warming_runs_a_lone_sequence_and_a_batch_all_small(compute: DeviceExecutor, longest: int) -> None:
    encoder = FailingEncoder()
    _runner(compute, encoder).warm(longest)
    sizes = [len(batch) for batch in encoder.batches]
    assert min(sizes) == 1 < max(sizes)
    assert all(sum(batch) <= 512 and max(batch) <= longest for batch in encoder.batches)


@pytest.mark.parametrize(("longest", "most"), [(512, 512), (512, 1_024), (100, 512), (512, 300), (512, 0)])
def test_a_batch_is_timed_when_its_shape_has_run_before(compute: DeviceExecutor, longest: int, most: int) -> None:
    encoder = FailingEncoder()
    runner = _runner(compute, encoder)
    runner.warm(longest)
    timed = runner.time(longest, most)
    *before, last = encoder.batches
    assert last in before
    assert max(last) <= longest
    assert timed is not None
    assert timed.tokens == sum(last) <= max(most, max(last))
    assert timed.tokens > most - longest
    assert 0 < timed.seconds < 10


def test_the_time_of_a_batch_is_the_least_of_three(compute: DeviceExecutor) -> None:
    class Interrupted(FailingEncoder):
        """Other work takes the processor in all batches but the third."""

        def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
            time.sleep(0.0 if len(self.batches) == 2 else 0.5)
            return super().forward(sequences)

    timed = _runner(compute, Interrupted()).time(512, 512)
    assert timed is not None
    assert timed.seconds < 0.4


def test_a_lone_sequence_is_retried_when_memory_ran_out(
    compute: DeviceExecutor,
) -> None:
    class Crowded(FailingEncoder):
        """Has room from the third try on."""

        def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
            self.room_tokens = 10 if len(self.batches) == 2 else 0
            return super().forward(sequences)

    encoder = Crowded()
    handle = _runner(compute, encoder).launch(_sequences(7))
    assert _names(handle.result()) == [7]
    assert len(encoder.batches) == 3
    assert len(handle.out_of_memory) == 2


def test_a_sequence_that_fails_for_another_reason_is_not_tried_again(compute: DeviceExecutor) -> None:
    encoder = FailingEncoder()
    _runner(compute, encoder).launch(_sequences(BROKEN)).result()
    assert len(encoder.batches) == 1


def test_a_lost_device_ends_the_batch_without_outcomes_or_further_tries(compute: DeviceExecutor) -> None:
    woken = threading.Event()
    encoder = FailingEncoder()
    handle = Runner(encoder, compute, woken.set).launch(_sequences(1, DEADLY, 3))
    assert woken.wait(10)
    assert handle.done()
    assert handle.device_error == "AcceleratorError: CUDA error: device-side assert triggered"
    with pytest.raises(DeviceBroken):
        handle.result()
    assert len(encoder.batches) == 1


@pytest.mark.parametrize("count", [1, 4])
def test_a_device_found_broken_while_memory_is_freed_ends_the_batch(
    compute: DeviceExecutor, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def empty_cache() -> None:
        raise torch.AcceleratorError("CUDA error: unspecified launch failure")

    monkeypatch.setattr(torch.cuda, "empty_cache", empty_cache)
    woken = threading.Event()
    handle = Runner(FailingEncoder(), compute, woken.set).launch(_sequences(*[OUT_OF_MEMORY] * count))
    assert woken.wait(10)
    assert handle.done()
    assert handle.device_error == "AcceleratorError: CUDA error: unspecified launch failure"


def test_a_cache_that_cannot_be_freed_for_another_reason_costs_nothing(
    compute: DeviceExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def empty_cache() -> None:
        raise ValueError("a bug")

    monkeypatch.setattr(torch.cuda, "empty_cache", empty_cache)
    assert _names(_runner(compute).launch(_sequences(7, BROKEN)).result()) == [7, InternalError]


class Exits(BaseException):
    """Ends a thread."""


def test_a_batch_that_crashes_is_done_and_the_loop_is_woken(compute: DeviceExecutor) -> None:
    class Crashing(FailingEncoder):
        def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
            raise Exits("at once")

    woken = threading.Event()
    handle = Runner(Crashing(), compute, woken.set).launch(_sequences(1))
    assert woken.wait(10)
    assert handle.done()
    assert handle.device_error == "Exits: at once"


def test_warming_runs_a_batch_on_every_thread_at_once(compute: DeviceExecutor) -> None:
    both = threading.Barrier(2)

    class Meeting(FailingEncoder):
        def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
            both.wait(10)
            return super().forward(sequences)

    encoder = Meeting()
    _runner(compute, encoder).warm(512)
    assert encoder.threads == {"batch_0", "batch_1"}


def test_a_batch_whose_outcomes_cannot_be_made_up_is_done_too(compute: DeviceExecutor) -> None:
    def finish(outcomes: list[Outcome]) -> list[object]:
        raise ValueError("no tags")

    woken = threading.Event()
    runner = Runner(FailingEncoder(), compute, woken.set)
    handle = runner.launch(_sequences(1), finish)
    with pytest.raises(DeviceBroken, match="no tags"):
        handle.result()
    assert woken.wait(10)


MEMORY = [
    RuntimeError("Check 'ptr' failed at src/cpu_memory.cpp:257:\nFailed to allocate 61440000 bytes of memory"),
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    RuntimeError("CUDA error: out of memory"),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    RuntimeError("CUDA driver error: out of memory"),
    RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
    RuntimeError("NVML_SUCCESS == r INTERNAL ASSERT FAILED at CUDACachingAllocator.cpp:1131, please report a bug"),
    MemoryError(),
]
BROKEN_DEVICE = [
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


@pytest.mark.parametrize("error", BROKEN_DEVICE, ids=repr)
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
