"""A captured row: a model's forward pass over one row of fixed size, captured once and replayed for each batch.

Owns the tensors that the graph reads and how a batch gets into them. The copy into these tensors, the replay and the
copy of the logits to the host are queued on the device in order, so a second batch may be queued before the first one's
logits have arrived. How a device captures is capture.py's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol, TypeAlias

import numpy as np
import torch

from service.core.arrays import Logits, TokenIds
from service.engine.cuda_graphs.buckets import Bucket
from service.engine.execution.encoder_protocol import StagedEncoder
from service.engine.execution.gpu_pipeline import copy_to_host
from service.engine.execution.packed_batch import PackedBatch, pack
from service.engine.execution.row_filling import fill

Replay: TypeAlias = Callable[[], torch.Tensor]
"""Computes the captured tensors' present contents: logits [tokens, labels], which the next replay overwrites."""


class GraphCapture(Protocol):
    """Captures forward passes on a device."""

    def capture(self, compute: Callable[[PackedBatch], torch.Tensor], batch: PackedBatch) -> Replay:
        """Capture a forward pass. `batch` has no borders as Python numbers: its tensors alone hold what changes."""


class CapturableEncoder(StagedEncoder, Protocol):
    """An encoder of packed batches that can be captured."""

    dtype_name: str
    first_position: int
    vocabulary_size: int

    def compute(self, batch: PackedBatch) -> torch.Tensor:
        """Queue one forward pass: logits [total, labels] on the device."""

    def validate(self, sequences: Sequence[TokenIds]) -> None:
        """Raise InternalError for sequences that the model cannot take."""


class GraphedRow:
    """One captured row; to be made and used in inference mode."""

    def __init__(self, bucket: Bucket, encoder: CapturableEncoder, graph_capture: GraphCapture) -> None:
        self._bucket = bucket
        self._device = encoder.device
        self._first_position = encoder.first_position
        sample = self._pack([np.zeros(length, dtype=np.int32) for length in bucket.samples()[0]])
        self._inputs = replace(sample, borders=(), max_length=bucket.longest)
        self._replay = graph_capture.capture(encoder.compute, self._inputs)

    def begin(self, sequences: Sequence[TokenIds]) -> Callable[[], list[Logits]]:
        """Queue a batch that fits the bucket; what is returned waits for its logits, in the order given."""
        batch = self._pack(sequences)
        self._inputs.input_ids.copy_(batch.input_ids)
        self._inputs.position_ids.copy_(batch.position_ids)
        self._inputs.cu_seqlens.copy_(batch.cu_seqlens)
        logits = copy_to_host(self._replay())
        return lambda: batch.split(logits())[: len(sequences)]

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        """Logits of each sequence: [tokens, labels] float32, in the order given."""
        return self.begin(sequences)()

    def _pack(self, sequences: Sequence[TokenIds]) -> PackedBatch:
        """Sequences for all slots of the row: these, filler up to the row's tokens, and empty ones."""
        filled = fill(sequences, self._bucket.tokens, self._bucket.longest)
        empty = [np.zeros(0, dtype=np.int32)] * (self._bucket.slots - len(filled))
        return pack([*filled, *empty], self._device, self._first_position)
