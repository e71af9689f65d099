"""Graph captures on a CPU: a replay runs the forward pass over the captured tensors and sees nothing else.

Some have the faults that a CUDA graph may have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch

from service.engine.cuda_graphs.capturable import require_capturable
from service.engine.cuda_graphs.graph import Replay
from service.engine.execution.packed_batch import PackedBatch

Compute = Callable[[PackedBatch], torch.Tensor]


class CpuCapture:
    """Each replay reads the tensors again. `on_replay` is called at each; `rows` are the sizes that were captured."""

    def __init__(self, on_replay: Callable[[], None] = lambda: None) -> None:
        self.rows: list[int] = []
        self._on_replay = on_replay

    def capture(self, compute: Compute, batch: PackedBatch) -> Replay:
        self.rows.append(batch.input_ids.shape[1])
        require_capturable(lambda: compute(replace(batch, borders=borders_in(batch))))

        def replay() -> torch.Tensor:
            self._on_replay()
            return compute(replace(batch, borders=borders_in(batch)))

        return replay


class FrozenBorders(CpuCapture):
    """Keeps the borders of the captured batch, as code does that reads them on the host."""

    def capture(self, compute: Compute, batch: PackedBatch) -> Replay:
        borders = borders_in(batch)
        return lambda: compute(replace(batch, borders=borders))


class StaleLogits(CpuCapture):
    """Returns the logits of the captured batch at each replay."""

    def capture(self, compute: Compute, batch: PackedBatch) -> Replay:
        logits = compute(replace(batch, borders=borders_in(batch)))
        return lambda: logits


class NanLogits(CpuCapture):
    """Returns NaN, as a graph may whose memory was reused."""

    def capture(self, compute: Compute, batch: PackedBatch) -> Replay:
        logits = compute(replace(batch, borders=borders_in(batch)))
        return lambda: torch.full_like(logits, torch.nan)


class DeviceSync(CpuCapture):
    """Captures code that waits for the device."""

    def capture(self, compute: Compute, batch: PackedBatch) -> Replay:
        def waiting(batch: PackedBatch) -> torch.Tensor:
            logits = compute(batch)
            assert logits.sum().isfinite()
            return logits

        return super().capture(waiting, batch)


class FailsMidway(CpuCapture):
    """Fails as CUDA does in the middle of a capture."""

    def capture(self, compute: Compute, batch: PackedBatch) -> Replay:
        raise torch.AcceleratorError("CUDA error: operation not permitted when stream is capturing")


def borders_in(batch: PackedBatch) -> tuple[int, ...]:
    """The borders that the tensor holds, without those of empty sequences."""
    return tuple(dict.fromkeys(batch.cu_seqlens.tolist()))
