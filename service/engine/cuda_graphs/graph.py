"""A model's forward pass over one row of fixed size, recorded once and replayed: on CUDA, a graph.

Owns the tensors that a recording reads and how a batch gets into them. Everything that touches a batch is queued on the
device in order: its copy into these tensors, the replay, the copy of its rows to the host. So a second batch may be
queued while the first one is not home yet. Does not know how a device records (`cuda_recorder.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol, TypeAlias

import numpy as np
import torch

from service.core.arrays import Logits, TokenIds
from service.engine.cuda_graphs.buckets import Bucket
from service.engine.execution.gpu_pipeline import copy_to_host
from service.engine.execution.packed_batch import PackedBatch, pack
from service.engine.execution.row_filling import fill

Replay: TypeAlias = Callable[[], torch.Tensor]
"""Computes what the recorded tensors hold now: rows [tokens, labels], which the next replay writes over."""


class GraphCapture(Protocol):
    """How a device records."""

    def record(self, compute: Callable[[PackedBatch], torch.Tensor], batch: PackedBatch) -> Replay:
        """Record a forward pass. `batch` has no Python numbers that change: its tensors alone say what is in it."""


class CapturableEncoder(Protocol):
    """A packed encoder, as those need it who record it.

    `compute` queues one forward pass: rows [total, labels] on the device. `begin` and `demand_sound` are `Encoder`'s.
    """

    dtype_name: str
    first_position: int
    vocabulary_size: int

    @property
    def device(self) -> torch.device: ...

    @property
    def max_tokens(self) -> int: ...

    def compute(self, batch: PackedBatch) -> torch.Tensor: ...

    def demand_sound(self, sequences: Sequence[TokenIds]) -> None: ...

    def begin(self, sequences: Sequence[TokenIds]) -> Callable[[], list[Logits]]: ...


class GraphedRow:
    """One recorded row; to be made and used in inference mode."""

    def __init__(self, bucket: Bucket, encoder: CapturableEncoder, recorder: GraphCapture) -> None:
        self._bucket = bucket
        self._device = encoder.device
        self._first_position = encoder.first_position
        first = self._pack([np.zeros(length, dtype=np.int32) for length in bucket.samples()[0]])
        self._recorded = replace(first, borders=(), max_length=bucket.longest)
        self._replay = recorder.record(encoder.compute, self._recorded)

    def begin(self, sequences: Sequence[TokenIds]) -> Callable[[], list[Logits]]:
        """Queue a batch that fits the bucket; what is returned waits for its logits, in the order given."""
        batch = self._pack(sequences)
        self._recorded.input_ids.copy_(batch.input_ids)
        self._recorded.position_ids.copy_(batch.position_ids)
        self._recorded.cu_seqlens.copy_(batch.cu_seqlens)
        landing = copy_to_host(self._replay())
        return lambda: batch.split(landing())[: len(sequences)]

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        """Logits of each sequence: [tokens, labels] float32, in the order given."""
        return self.begin(sequences)()

    def _pack(self, sequences: Sequence[TokenIds]) -> PackedBatch:
        """All slots of the row: these sequences, those that fill it up, and empty ones."""
        filled = fill(sequences, self._bucket.tokens, self._bucket.longest)
        empty = [np.zeros(0, dtype=np.int32)] * (self._bucket.slots - len(filled))
        return pack([*filled, *empty], self._device, self._first_position)
