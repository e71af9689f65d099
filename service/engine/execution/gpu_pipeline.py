"""Batches of a GPU, one being computed while the next one's kernels are queued behind it.

Owns whose turn it is to queue: one batch at a time, so that two batches never hold activations together and memory is
what one batch takes. Does not know the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Protocol

import torch

from service.core.arrays import Logits, TokenIds

BATCHES = 2
"""One that runs, and one behind it."""


class StagedEncoder(Protocol):
    """What a lane needs of an encoder."""

    @property
    def device(self) -> torch.device: ...

    @property
    def max_tokens(self) -> int: ...

    def begin(self, sequences: Sequence[TokenIds]) -> Callable[[], list[Logits]]: ...


class PipelinedEncoder:
    """A token classifier whose batches take turns to be queued, together with those of all who share the turn."""

    def __init__(self, encoder: StagedEncoder, turn: Lock) -> None:
        self.device = encoder.device
        self.max_tokens = encoder.max_tokens
        self._encoder = encoder
        self._turn = turn

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        """Logits of each sequence: [tokens, labels] float32, in the order given."""
        with self._turn:
            landing = self._encoder.begin(sequences)
        return landing()
