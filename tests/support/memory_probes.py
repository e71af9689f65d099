"""A memory probe for tests: a device of a given size whose batches take memory by a formula."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from service.core.arrays import Logits, TokenIds
from service.core.memory.cost_model import ProbeAccuracy
from service.core.types import Shape

BYTES_PER_TOKEN = 1_000
REST_BYTES = 50_000


class Device:
    """Memory shared by batches and another process; a batch that does not fit fails as CUDA's do."""

    accuracy = ProbeAccuracy(noise_bytes=0, margin=1.0)

    def __init__(self, total_bytes: int) -> None:
        self.total_bytes = total_bytes
        self.rest_bytes = REST_BYTES
        self.others_bytes = 0
        self.peak = 0
        self.cache_releases = 0
        self.rebaselines = 0
        self.caps: list[int] = []

    def take(self, shape: Shape) -> None:
        """Allocate what a batch needs, and free it."""
        needed = shape.tokens * BYTES_PER_TOKEN
        if needed > self.available_bytes():
            raise torch.OutOfMemoryError("CUDA out of memory")
        self.peak = max(self.peak, needed)

    def rebaseline(self) -> None:
        self.rebaselines += 1

    def available_bytes(self) -> int:
        return self.total_bytes - self.rest_bytes - self.others_bytes

    def peak_bytes(self, work: Callable[[], object]) -> int:
        self.peak = 0
        work()
        return self.peak

    def release_cache(self) -> None:
        self.cache_releases += 1

    def cap(self, headroom_bytes: int) -> None:
        self.caps.append(headroom_bytes)


class EncoderOn:
    """An encoder whose batches allocate a device's memory; each token's logit is its own id."""

    def __init__(self, memory: Device) -> None:
        self.memory = memory
        self.batches: list[Shape] = []

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        shape = Shape.of([len(tokens) for tokens in sequences])
        self.batches.append(shape)
        self.memory.take(shape)
        return [tokens.astype("float32")[:, None] for tokens in sequences]
