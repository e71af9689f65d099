"""Captures of CUDA graphs: beside a thread that loads, failed midway, and dropped before weights leave."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from service.engine.cuda_graphs.capture import CudaGraphCapture
from service.engine.cuda_graphs.graph import Replay
from service.engine.execution.packed_batch import PackedBatch
from tests.rehearsal.devices import A10G
from tests.rehearsal.engine_parts import SmallEngine
from tests.rehearsal.scene import Gpu, play

ROWS = ([50], [100], [400])
UNTIL_CAPTURED = 20
CAPTURED = "a graph was captured"
FAILED = "a capture failed; nothing more is captured"


def _until_captured(engine: SmallEngine) -> list[Any]:
    rows: list[Any] = []
    for _ in range(UNTIL_CAPTURED):
        rows += engine.answers([engine.launch(*lengths) for lengths in ROWS])
    engine.idle()
    return rows


def _capture_beside_a_loader(gpu: Gpu) -> tuple[list[str], list[str], int]:
    engine = SmallEngine(gpu, graphs=True)
    engine.open_captures()
    stopped, errors, loads = threading.Event(), [], 0

    def load() -> None:
        nonlocal loads
        while not stopped.is_set():
            try:
                loaded = torch.randn(64, 1 << 12).to("cuda")
                loaded.sum().item()
                pinned = torch.empty(1_000, pin_memory=True)
                pinned.copy_(loaded[0, :1_000], non_blocking=True)
                torch.cuda.current_stream().synchronize()
                loads += 1
            except Exception as error:
                errors.append(f"{type(error).__name__}: {error}")

    loader = threading.Thread(target=load)
    loader.start()
    rows = _until_captured(engine)
    stopped.set()
    loader.join()
    assert all(not isinstance(row, str) for row in rows)
    return engine.log.messages, errors, loads


def test_a_loader_s_copies_end_no_capture(tmp_path: Path) -> None:
    messages, errors, loads = play(_capture_beside_a_loader, A10G, tmp_path)
    assert errors == []
    assert messages.count(CAPTURED) == 3
    assert FAILED not in messages
    assert loads > 3


def _wait_in_captures() -> None:
    """From now on, in this process, every captured pass waits for the device at its end."""
    capture = CudaGraphCapture.capture

    def waiting(self: CudaGraphCapture, compute: Callable[[PackedBatch], torch.Tensor], batch: PackedBatch) -> Replay:
        def wait(batch: PackedBatch) -> torch.Tensor:
            rows = compute(batch)
            if torch.cuda.is_current_stream_capturing():
                rows.sum().item()
            return rows

        return capture(self, wait, batch)

    CudaGraphCapture.capture = waiting  # type: ignore[method-assign]


def _fail_midway(gpu: Gpu) -> tuple[list[str], bool, list[int], tuple[int, int]]:
    _wait_in_captures()
    engine = SmallEngine(gpu, graphs=True)
    engine.open_captures()
    _until_captured(engine)
    default = engine.compute.submit(torch.cuda.current_stream).result() == torch.cuda.default_stream()
    rows = [len(row) for row in engine.answers([engine.launch(100, 40), engine.launch(5)])]
    hog = torch.empty(1 << 28, device="cuda")
    with_hog = torch.cuda.memory_reserved()
    del hog
    torch.cuda.empty_cache()
    return engine.log.messages, default, rows, (with_hog, torch.cuda.memory_reserved())


def test_a_capture_that_fails_midway_leaves_a_device_that_serves(tmp_path: Path) -> None:
    messages, default, rows, (with_hog, after) = play(_fail_midway, A10G, tmp_path)
    assert messages.count(FAILED) == 1
    assert default, "the failed capture's stream is still the thread's"
    assert rows == [100, 40, 5]
    assert with_hog - after >= 1 << 28, "the allocator frees no memory any more"


def _offload(gpu: Gpu) -> tuple[int, int, int, int, int]:
    from service.engine.cuda_graphs import validation
    from service.engine.memory.probe import graph_bytes

    validation.LEAST_GAIN = -math.inf  # Whether a graph is faster is read off a clock, which a busy host disturbs.
    engine = SmallEngine(gpu, graphs=True)
    engine.open_captures()
    _until_captured(engine)
    held = graph_bytes(torch.cuda.memory_snapshot(), 0)  # type: ignore[no-untyped-call]
    replays = gpu.report()["graph_launches"]
    engine.compute.submit(engine.model.weights.offload).result()
    engine.compute.submit(engine.model.weights.load).result()
    dropped = graph_bytes(torch.cuda.memory_snapshot(), 0)  # type: ignore[no-untyped-call]
    before = len(engine.log.messages)
    _until_captured(engine)
    again = engine.log.messages[before:].count(CAPTURED)
    return held, replays, dropped, again, gpu.report()["graph_launches"] - replays


def test_graphs_are_dropped_before_weights_leave_and_captured_again(tmp_path: Path) -> None:
    held, replays, dropped, again, replays_later = play(_offload, A10G, tmp_path)
    assert (held > 0, replays > 0) == (True, True)
    assert dropped == 0
    assert again > 0
    assert replays_later > 0
