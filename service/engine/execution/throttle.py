"""A device that is no faster than so many tokens a second: small machines can rehearse a fleet of slow devices.

Everything else stays real: queue, batches, answers. The device is one, however many batches run beside each other.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import torch

from service.core.arrays import Logits, TokenIds
from service.engine.execution.encoder_protocol import Encoder


class ThrottledEncoder:
    """An encoder whose batches take at least as long as on a device of this speed."""

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
        """The encoder's own logits, not before the device would have had them."""
        until = self._book(sum(len(tokens) for tokens in sequences))
        logits = self._encoder.forward(sequences)
        time.sleep(max(until - time.monotonic(), 0.0))
        return logits

    def _book(self, tokens: int) -> float:
        """Until when the device is busy with these."""
        with self._lock:
            self._free_at = max(time.monotonic(), self._free_at) + tokens / self._tokens_per_second
            return self._free_at
