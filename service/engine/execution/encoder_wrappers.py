"""Encoder wrappers: the interface of a model on its device, and the wrappers that pipeline, shard or slow its batches.

A wrapper adds one thing and is an encoder again. `ModelFactory` stacks them:

    on a GPU    HostOffloaded( PipelinedEncoder( TransformersEncoder ))
    on a CPU    ReloadedFromDisk( ShardedEncoder( TransformersEncoder ))
    either      ThrottledEncoder( … ) around it, in load tests of a fleet of slow devices
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Lock
from typing import Protocol

import torch

from service.core.arrays import Logits, TokenIds
from service.process import yield_processor


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
        """Queue a batch; returns a function that waits for the logits, as `Encoder.forward` returns them."""


class PipelinedEncoder:
    """Queues batches one at a time and in order, among all encoders that share the lock."""

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


MOST_SHARDS = 4
"""Most shards: Python launches the operators of one at a time (the GIL), so more would wait."""

SMALLEST_SHARD_TOKENS = 128

EVEN = 1.25
"""Ratio of the largest shard to the mean up to which splitting gains."""


class Threads:
    """Compute threads with equal parts of the CPU's cores, shared by the encoders of one process.

    Batches that yield the processor have threads of their own, which yield too.
    """

    def __init__(self, cores: int) -> None:
        self.count = max(1, min(cores, MOST_SHARDS))
        self._niceness = _niceness()
        self._own, self._yielding = self._started(cores), self._started(cores, yield_processor)
        torch.set_num_threads(cores)  # The shards' threads keep their numbers; every other thread gets all cores.

    @property
    def pool(self) -> ThreadPoolExecutor:
        """The threads for the shards of this thread's batch."""
        return self._own if _niceness() == self._niceness else self._yielding

    def _started(self, cores: int, begin: Callable[[], None] | None = None) -> ThreadPoolExecutor:
        pool = ThreadPoolExecutor(self.count, "shard", initializer=begin)
        all_started = Barrier(self.count)
        starts = [pool.submit(_start, cores // self.count or 1, all_started) for _ in range(self.count)]
        for each in starts:
            each.result()
        return pool


class ShardedEncoder:
    """Computes a batch in shards."""

    def __init__(self, encoder: Encoder, threads: Threads) -> None:
        self.device = encoder.device
        self.max_tokens = encoder.max_tokens
        self._encoder = encoder
        self._threads = threads

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        """Logits of each sequence: [tokens, labels] float32, in the order given."""
        shards = shard([len(tokens) for tokens in sequences], self._threads.count)
        if len(shards) == 1:
            return self._encoder.forward(sequences)
        parts = self._threads.pool.map(self._encoder.forward, ([sequences[i] for i in indices] for indices in shards))
        found: dict[int, Logits] = {}
        for indices, part in zip(shards, parts, strict=True):
            found.update(zip(indices, part, strict=True))
        return [found[index] for index in range(len(sequences))]


def shard(lengths: Sequence[int], most: int) -> list[list[int]]:
    """Divide sequences, by index, into up to `most` shards of similar tokens; one shard where they would be uneven."""
    total = sum(lengths)
    count = max(1, min(most, total // SMALLEST_SHARD_TOKENS))
    shards: list[list[int]] = [[] for _ in range(count)]
    tokens = [0] * count
    for index in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        least = tokens.index(min(tokens))
        shards[least].append(index)
        tokens[least] += lengths[index]
    return shards if max(tokens) <= EVEN * total / count else [list(range(len(lengths)))]


def _niceness() -> int:
    """This thread's niceness, on Linux."""
    return os.getpriority(os.PRIO_PROCESS, 0)


def _start(cores: int, all_started: Barrier) -> None:
    torch.get_num_threads()  # A thread's first call takes the process's number; only after it does its own number last.
    torch.set_num_threads(cores)
    all_started.wait()


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
