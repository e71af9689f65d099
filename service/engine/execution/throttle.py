"""An encoder wrapper that limits tokens per second, so that tests on a small machine see a fleet of slow devices.

Everything else stays real: queue, batches, logits. The limited device is one, however many batches run side by side.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import torch

from service.core.arrays import Logits, TokenIds
from service.engine.execution.encoder_protocol import Encoder


class ThrottledEncoder:
    """Returns a batch's logits no sooner than a device of this speed would."""

    def __init__(self, encoder: Encoder, tokens_per_second: float) -> None:
        self._encoder = encoder
        self._tokens_per_second = tokens_per_second
        self._free_at = 0.0
        self._lock = threading.Lock()

    @property
    def device(self) -> torch.device:
        return self._encoder.device

    @property
    def max_tokens(self) -> int:
        return self._encoder.max_tokens

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        """The encoder's own logits, delayed."""
        until = self._reserve(sum(len(tokens) for tokens in sequences))
        logits = self._encoder.forward(sequences)
        time.sleep(max(until - time.monotonic(), 0.0))
        return logits

    def _reserve(self, tokens: int) -> float:
        """Queue these tokens behind those of other batches; the time when the slow device would have computed them."""
        with self._lock:
            self._free_at = max(time.monotonic(), self._free_at) + tokens / self._tokens_per_second
            return self._free_at
