"""Device memory and pinned memory: what batches reserve, what offloaded weights take, what want of either does."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch

from service.engine.execution.runner import BatchHandle
from tests.cuda_emulator.devices import A10G
from tests.cuda_emulator.emulated_run import Gpu, emulate
from tests.cuda_emulator.engine_parts import SmallEngine

MEBIBYTE = 1 << 20
FULL_BATCH = [175] * 200
SLOW_A10G = replace(A10G, least_kernel_ns=3_000_000)
"""So slow that a busy host has queued a batch before the one ahead of it has run."""


def _reserved(work: Any) -> int:
    """The most bytes that the allocator had while it worked, beyond those in use before."""
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    work()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_reserved() - before


def _two_in_flight(gpu: Gpu) -> tuple[int, int, list[int], bool]:
    engine = SmallEngine(gpu, hidden=256)
    engine.answers([engine.launch(*FULL_BATCH)])
    one = _reserved(lambda: engine.answers([engine.launch(*FULL_BATCH)]))
    handles: list[BatchHandle] = []

    def launch_all() -> None:
        handles.extend(engine.launch(*FULL_BATCH) for _ in range(6))
        engine.answers(handles)

    six = _reserved(launch_all)
    overlap = any(after.begun_seconds < before.ended_seconds for before, after in pairwise(handles))
    return one, six, [len(row) for row in engine.answers(handles)], overlap


def test_batches_that_overlap_reserve_the_memory_of_one(tmp_path: Path) -> None:
    one, six, rows, overlap = emulate(_two_in_flight, SLOW_A10G, tmp_path)
    assert rows == FULL_BATCH * 6
    assert overlap
    assert one > 50 * MEBIBYTE
    assert six <= 1.05 * one + 24 * MEBIBYTE


def _move(gpu: Gpu) -> dict[str, Any]:
    engine = SmallEngine(gpu, hidden=384, layers=6)
    weights = engine.model.weights
    before_pinned = gpu.report()["pinned_peak_bytes"]
    pins = _pins(gpu)
    engine.compute.submit(weights.offload).result()
    pins_while_offloading = _pins(gpu) - pins
    away = gpu.report()["device_bytes"]
    engine.compute.submit(weights.load).result()
    report = gpu.report()
    return {
        "weights": engine.model.status.parameter_bytes,
        "pinned": report["pinned_peak_bytes"],
        "pinned_before": before_pinned,
        "pins": pins_while_offloading,
        "freed": report["device_bytes"] - away,
        "answers": [len(row) for row in engine.answers([engine.launch(100)])],
    }


def _pins(gpu: Gpu) -> int:
    calls = gpu.report()["calls"]
    return int(calls.get("cudaHostAlloc", 0) + calls.get("cudaHostRegister", 0))


def test_offloaded_weights_take_no_more_pinned_memory_than_they_have(tmp_path: Path) -> None:
    moved = emulate(_move, A10G, tmp_path)
    assert moved["answers"] == [100]
    assert moved["weights"] > 10 * MEBIBYTE
    assert moved["pinned"] <= 1.05 * moved["weights"] + 2 * MEBIBYTE


def test_nothing_is_pinned_while_weights_are_offloaded(tmp_path: Path) -> None:
    assert emulate(_move, A10G, tmp_path)["pins"] == 0


def _copies_of_weights(gpu: Gpu) -> bool:
    engine = SmallEngine(gpu)
    state = _state(engine)
    engine.compute.submit(engine.model.weights.offload).result()
    engine.compute.submit(engine.model.weights.load).result()
    after = _state(engine)
    same = [torch.equal(state[name], after[name]) for name in state if state[name].nbytes > 8]
    return len(same) > 20 and all(same)


def _state(engine: SmallEngine) -> dict[str, torch.Tensor]:
    module = engine.model.weights._module  # type: ignore[attr-defined]
    return {name: tensor.detach().cpu().clone() for name, tensor in module.state_dict().items()}


def test_weights_come_back_as_they_were(tmp_path: Path) -> None:
    assert emulate(_copies_of_weights, A10G, tmp_path)


def _others_take_memory(gpu: Gpu) -> tuple[int, list[int], bool, list[int]]:
    engine = SmallEngine(gpu, hidden=256)
    engine.answers([engine.launch(*FULL_BATCH)])
    peak = _reserved(lambda: engine.answers([engine.launch(*FULL_BATCH)]))
    torch.cuda.empty_cache()
    free, _ = torch.cuda.mem_get_info()
    gpu.set(others_bytes=free - peak // 3)
    handle = engine.launch(*FULL_BATCH)
    rows = engine.answers([handle])
    gpu.set()
    again = engine.answers([engine.launch(*FULL_BATCH)])
    return handle.splits, [len(row) for row in rows], bool(handle.out_of_memory), [len(row) for row in again]


def test_a_batch_is_split_when_others_took_the_memory(tmp_path: Path) -> None:
    splits, rows, out_of_memory, again = emulate(_others_take_memory, A10G, tmp_path)
    assert (rows, again) == (FULL_BATCH, FULL_BATCH)
    assert splits >= 1
    assert out_of_memory


def _no_memory_for_handles(gpu: Gpu) -> tuple[list[Any], list[str | None]]:
    engine = SmallEngine(gpu)
    engine.answers([engine.launch(100)])
    free, _ = torch.cuda.mem_get_info()
    gpu.set(others_bytes=free - MEBIBYTE)
    handles = [engine.launch(100) for _ in range(8)]  # Two overlap, on two threads.
    answers = [each if isinstance(each, str) else len(each) for each in engine.answers(handles)]
    return answers, [handle.device_error for handle in handles]


def test_want_of_memory_for_the_second_threads_libraries_breaks_nothing(tmp_path: Path) -> None:
    answers, errors = emulate(_no_memory_for_handles, A10G, tmp_path)
    assert errors == [None] * 8
    assert answers == [100] * 8


def _no_pinned_memory(gpu: Gpu) -> tuple[list[Any], str | None, list[int]]:
    engine = SmallEngine(gpu)
    gpu.set(pinned_limit_bytes=int(gpu.report()["pinned_bytes"]))
    handle = engine.launch(*FULL_BATCH[:64])
    short = [each if isinstance(each, str) else len(each) for each in engine.answers([handle])]
    gpu.set()
    return short, handle.device_error, [len(row) for row in engine.answers([engine.launch(*FULL_BATCH[:64])])]


def test_want_of_pinned_memory_fails_no_more_than_a_batch(tmp_path: Path) -> None:
    short, error, again = emulate(_no_pinned_memory, A10G, tmp_path)
    assert error is None
    assert set(short) <= {175, "insufficient_memory"}
    assert again == FULL_BATCH[:64]


def _random_shapes(gpu: Gpu) -> tuple[int, int]:
    engine = SmallEngine(gpu, hidden=256)
    engine.answers([engine.launch(*FULL_BATCH)])
    one = _reserved(lambda: engine.answers([engine.launch(*FULL_BATCH)]))
    draw = np.random.default_rng(0)
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    for _ in range(20):
        left, lengths = int(draw.integers(1_000, sum(FULL_BATCH))), []
        while left > 0:
            lengths.append(min(left, int(draw.integers(3, 512))))
            left -= lengths[-1]
        engine.answers([engine.launch(*lengths)])
    return one, torch.cuda.max_memory_reserved() - before


def test_batches_of_ever_different_shapes_do_not_fragment_memory(tmp_path: Path) -> None:
    one, many = emulate(_random_shapes, A10G, tmp_path)
    assert many <= 1.1 * one + 24 * MEBIBYTE
