"""A model's forward pass over one row of fixed size, recorded once and replayed: on CUDA, a graph.

Owns the tensors that a recording reads and how a batch gets into them. Everything that touches a batch is queued on the
device in order: its copy into these tensors, the replay, the copy of its rows to the host. So a second batch may be
queued while the first one is not home yet. Does not know how a device records (`cuda_recorder.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

import numpy as np
import torch

from service.engine.buckets import Bucket
from service.engine.landing import send_home
from service.engine.packing import PackedBatch, Tokens, cut, lay_out, on_its_way
from service.engine.runner import Logits

Replay: TypeAlias = Callable[[], torch.Tensor]
"""Computes what the recorded tensors hold now: rows [tokens, labels], which the next replay writes over."""


class Recorder(Protocol):
    """How a device records."""

    def record(self, compute: Callable[[PackedBatch], torch.Tensor], batch: PackedBatch) -> Replay:
        """Record a forward pass. `batch` has no Python numbers that change: its tensors alone say what is in it."""


class Recordable(Protocol):
    """What is recorded: a packed encoder.

    `compute` queues one forward pass: rows [total, labels] on the device.
    """

    @property
    def device(self) -> torch.device: ...

    @property
    def first_position(self) -> int: ...

    def compute(self, batch: PackedBatch) -> torch.Tensor: ...


class Recording:
    """One recorded row; to be made and used in inference mode."""

    def __init__(self, bucket: Bucket, encoder: Recordable, recorder: Recorder) -> None:
        self._bucket = bucket
        self._device = encoder.device
        self._first_position = encoder.first_position
        self._rows = torch.zeros((2, bucket.tokens), dtype=torch.int64, device=encoder.device)
        self._borders = torch.zeros(bucket.slots + 1, dtype=torch.int32, device=encoder.device)
        self._fill([np.zeros(length, dtype=np.int32) for length in bucket.samples()[0]])
        batch = PackedBatch(self._rows[0:1], self._rows[1:2], self._borders, (), bucket.longest)
        self._replay = recorder.record(encoder.compute, batch)

    def begin(self, sequences: Sequence[Tokens]) -> Callable[[], list[Logits]]:
        """Queue a batch that the bucket has borders for; what is returned waits for its logits, in the order given."""
        borders = self._fill(sequences)
        landing = send_home(self._replay()[: borders[-1]])
        return lambda: cut(landing(), borders)

    def forward(self, sequences: Sequence[Tokens]) -> list[Logits]:
        """Logits of each sequence: [tokens, labels] float32, in the order given."""
        return self.begin(sequences)()

    def _fill(self, sequences: Sequence[Tokens]) -> tuple[int, ...]:
        """The borders of the real sequences."""
        laid = lay_out(sequences, self._first_position)
        borders = self._bucket.borders([len(tokens) for tokens in sequences])
        assert borders is not None, "the bucket was chosen for these sequences"
        rows = np.zeros((2, self._bucket.tokens), dtype=np.int64)
        rows[1] = self._first_position
        rows[:, : laid.borders[-1]] = laid.rows
        self._rows.copy_(on_its_way(rows, self._device), non_blocking=True)
        self._borders.copy_(on_its_way(np.asarray(borders, dtype=np.int32), self._device), non_blocking=True)
        return laid.borders
