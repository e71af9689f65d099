"""An encoder wrapper that overlaps a GPU's batches: one is computed while the next one's kernels are queued behind it.

One batch at a time is queued, so two never hold activations together, and memory is what one batch takes. Its logits
are copied to pinned host memory behind its kernels; the thread that waits for them waits for that copy only. Logits are
copied in the precision they were computed in (2 bytes each in half precision) and widened on the host, which is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from service.core.arrays import Logits, TokenIds
from service.engine.execution.encoder_protocol import StagedEncoder

BATCHES = 2
"""In flight: one is computed, and one is queued behind it."""


class PipelinedEncoder:
    """Queues its batches one at a time and in their order, together with those of all encoders that share the lock."""

    def __init__(self, encoder: StagedEncoder, queuing: Lock) -> None:
        self.device = encoder.device
        self.max_tokens = encoder.max_tokens
        self._encoder = encoder
        self._queuing = queuing

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        """Logits of each sequence: [tokens, labels] float32, in the order given."""
        with self._queuing:
            logits = self._encoder.begin(sequences)
        return logits()
