"""The encoder interface: a model on its device, as the runner and each wrapper around a model see it.

A wrapper adds one thing and is an encoder again. `ModelFactory` stacks them:

    on a GPU    HostOffloaded( PipelinedEncoder( TransformersEncoder ))
    on a CPU    ReloadedFromDisk( ShardedEncoder( TransformersEncoder ))
    either      ThrottledEncoder( … ) around it, in tests with a slowed-down device
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import torch

from service.core.arrays import Logits, TokenIds


class _OnDevice(Protocol):
    @property
    def device(self) -> torch.device: ...

    @property
    def max_tokens(self) -> int: ...


class Encoder(_OnDevice, Protocol):
    """Computes a batch and returns its logits."""

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        """Logits of each sequence: [tokens, labels] float32, in the order given."""


class StagedEncoder(_OnDevice, Protocol):
    """Queues a batch's kernels first and waits for its logits later."""

    def begin(self, sequences: Sequence[TokenIds]) -> Callable[[], list[Logits]]:
        """Queue a batch; what is returned waits for the logits that `Encoder.forward` would return."""
