"""Recorders for tests: on a CPU a recording runs the forward pass over the recorded tensors, and sees nothing else.

Some have the faults that a graph may have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch

from service.engine.cuda_graphs.capturable import demand_recordable
from service.engine.cuda_graphs.graph import Replay
from service.engine.execution.packed_batch import PackedBatch

Compute = Callable[[PackedBatch], torch.Tensor]


class CpuRecorder:
    """Each replay reads the tensors anew. `replayed` is called at each."""

    def __init__(self, replayed: Callable[[], None] = lambda: None) -> None:
        self.rows: list[int] = []
        self._replayed = replayed

    def record(self, compute: Compute, batch: PackedBatch) -> Replay:
        self.rows.append(batch.input_ids.shape[1])
        demand_recordable(lambda: compute(replace(batch, borders=borders_in(batch))))

        def replay() -> torch.Tensor:
            self._replayed()
            return compute(replace(batch, borders=borders_in(batch)))

        return replay


class FrozenBorders(CpuRecorder):
    """Keeps the borders of the day it was recorded, as code would that reads them on the host."""

    def record(self, compute: Compute, batch: PackedBatch) -> Replay:
        borders = borders_in(batch)
        return lambda: compute(replace(batch, borders=borders))


class StaleRows(CpuRecorder):
    """Computed once, at the recording."""

    def record(self, compute: Compute, batch: PackedBatch) -> Replay:
        rows = compute(replace(batch, borders=borders_in(batch)))
        return lambda: rows


class NoNumbers(CpuRecorder):
    """Reads memory that is somebody else's by now."""

    def record(self, compute: Compute, batch: PackedBatch) -> Replay:
        rows = compute(replace(batch, borders=borders_in(batch)))
        return lambda: torch.full_like(rows, torch.nan)


class Waits(CpuRecorder):
    """Records code that waits for the device."""

    def record(self, compute: Compute, batch: PackedBatch) -> Replay:
        def waiting(batch: PackedBatch) -> torch.Tensor:
            rows = compute(batch)
            assert rows.sum().isfinite()
            return rows

        return super().record(waiting, batch)


class CannotRecord(CpuRecorder):
    """Fails as CUDA does in the middle of a recording."""

    def record(self, compute: Compute, batch: PackedBatch) -> Replay:
        raise torch.AcceleratorError("CUDA error: operation not permitted when stream is capturing")


def borders_in(batch: PackedBatch) -> tuple[int, ...]:
    """The borders that the tensor holds, without those of empty sequences."""
    return tuple(dict.fromkeys(batch.cu_seqlens.tolist()))
