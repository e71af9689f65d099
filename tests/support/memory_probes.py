"""An honest gauge for tests: a device of so many bytes whose batches take what a formula says."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from service.core.arrays import Logits, TokenIds
from service.core.memory.cost_model import ProbeAccuracy
from service.core.types import Shape

BYTES_PER_TOKEN = 1_000
REST_BYTES = 50_000


class Device:
    """Memory that batches and another process share; a batch that does not fit fails as CUDA's do."""

    gauged = ProbeAccuracy(noise_bytes=0, margin=1.0)

    def __init__(self, total_bytes: int) -> None:
        self.total_bytes = total_bytes
        self.rest_bytes = REST_BYTES
        self.others_bytes = 0
        self.peak = 0
        self.given_back = 0
        self.settled = 0
        self.caps: list[int] = []

    def take(self, shape: Shape) -> None:
        """A batch takes what it needs for a moment."""
        needed = shape.tokens * BYTES_PER_TOKEN
        if needed > self.available_bytes():
            raise torch.OutOfMemoryError("CUDA out of memory")
        self.peak = max(self.peak, needed)

    def settle(self) -> None:
        self.settled += 1

    def available_bytes(self) -> int:
        return self.total_bytes - self.rest_bytes - self.others_bytes

    def peak_bytes(self, work: Callable[[], object]) -> int:
        self.peak = 0
        work()
        return self.peak

    def give_back(self) -> None:
        self.given_back += 1

    def cap(self, room_bytes: int) -> None:
        self.caps.append(room_bytes)


class EncoderOn:
    """An encoder whose batches take a device's memory; each token's logit is its own id."""

    device = torch.device("cpu")
    max_tokens = 512

    def __init__(self, memory: Device) -> None:
        self.memory = memory
        self.batches: list[Shape] = []

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        shape = Shape.of([len(tokens) for tokens in sequences])
        self.batches.append(shape)
        self.memory.take(shape)
        return [tokens.astype("float32")[:, None] for tokens in sequences]
