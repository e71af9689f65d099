"""Encoder wrappers: the interface of a model on its device, and the wrappers that pipeline, divide or slow its batches.

A wrapper adds one thing and is an encoder again. `ModelFactory` stacks them:

    on a GPU    HostOffloaded( PipelinedEncoder( TransformersEncoder ))
    on a CPU    ReloadedFromDisk( DividedEncoder( TransformersEncoder ))
    either      ThrottledEncoder( … ) around it, in load tests of a fleet of slow devices
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Protocol

from service.core.arrays import Logits, TokenIds
from service.engine.execution.executor import DeviceTurns


class Encoder(Protocol):
    """Computes a batch and returns its logits."""

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        """Logits of each sequence: [tokens, labels] float32, in the order given."""


class StagedEncoder(Protocol):
    """Queues a batch's kernels first and waits for its logits later."""

    def begin(self, sequences: Sequence[TokenIds]) -> Callable[[], list[Logits]]:
        """Queue a batch; returns a function that waits for the logits, as `Encoder.forward` returns them."""


class PipelinedEncoder:
    """Queues batches one at a time and in order, among all encoders that share the lock."""

    def __init__(self, encoder: StagedEncoder, queuing: Lock) -> None:
        self._encoder = encoder
        self._queuing = queuing

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        """Logits of each sequence: [tokens, labels] float32, in the order given."""
        with self._queuing:
            logits = self._encoder.begin(sequences)
        return logits()


UNIT_TOKENS = 1_024
"""Most tokens of a unit, padding included, unless it is one sequence: more gains nothing."""
YIELDING_TOKENS = 256
"""Most tokens of a unit of batch work, since interactive work may have to wait for it."""
LENGTH_STEP = 8
"""Multiple to which a sequence's tokens are padded: OpenVINO keeps some 30 kB of compiled code for each shape."""


class DividedEncoder:
    """Computes a batch in units, which take turns with those of other batches.

    All sequences of a unit have the same padded length, with which each would also be computed alone. So a sequence's
    logits do not depend on its neighbours, in any precision.
    """

    def __init__(self, encoder: Encoder, turns: DeviceTurns) -> None:
        self._encoder = encoder
        self._turns = turns

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        """Logits of each sequence: [tokens, labels] float32, in the order given."""
        lengths = [len(tokens) for tokens in sequences]
        left_tokens = sum(lengths)
        found: dict[int, Logits] = {}
        for unit in units(lengths, YIELDING_TOKENS if self._turns.yields else UNIT_TOKENS):
            with self._turns.turn(left_tokens):
                logits = self._encoder.forward([sequences[index] for index in unit])
            found.update(zip(unit, logits, strict=True))
            left_tokens -= sum(lengths[index] for index in unit)
        return [found[index] for index in range(len(sequences))]


def units(lengths: Sequence[int], most_tokens: int) -> list[list[int]]:
    """Group sequences of the same padded length, by index, longest first.

    Args:
        most_tokens: of a group of several sequences, padding included.
    """
    groups: list[list[int]] = []
    group_length = 0
    for index in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        own_length = padded_length(lengths[index])
        if own_length == group_length and own_length * (len(groups[-1]) + 1) <= most_tokens:
            groups[-1].append(index)
        else:
            groups.append([index])
            group_length = own_length
    return groups


def padded_length(tokens: int, step: int = LENGTH_STEP) -> int:
    """Round tokens up to a multiple of `step`."""
    return -(-tokens // step) * step


class ThrottledEncoder:
    """Returns a batch's logits no sooner than a device of this speed would."""

    def __init__(self, encoder: Encoder, tokens_per_second: float) -> None:
        self._encoder = encoder
        self._tokens_per_second = tokens_per_second
        self._free_at = 0.0
        self._lock = Lock()

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        """Compute the encoder's logits and delay them."""
        until = self._reserve(sum(len(tokens) for tokens in sequences))
        logits = self._encoder.forward(sequences)
        time.sleep(max(until - time.monotonic(), 0.0))
        return logits

    def _reserve(self, tokens: int) -> float:
        """Queue tokens behind those of other batches; returns the time at which the slow device would be done."""
        with self._lock:
            self._free_at = max(time.monotonic(), self._free_at) + tokens / self._tokens_per_second
            return self._free_at
