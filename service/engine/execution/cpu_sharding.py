"""An encoder wrapper that splits a CPU's batches into shards, each computed by a thread of its own.

Splitting every matrix product over all cores makes the cores wait for each other some hundred times a batch, and a core
that another process borrows stops all of them. Shards of equal work wait once, at the end, and not even there when a
second batch is in flight: its shards start on the threads that the first one no longer needs. A batch that cannot be
split evenly, such as a lone document, is computed on all cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import torch

from service.core.arrays import Logits, TokenIds
from service.engine.execution.encoder_protocol import Encoder

MOST_SHARDS = 4
"""Python launches the operators of one shard at a time (the GIL), so further shards would wait for it."""

SMALLEST_SHARD_TOKENS = 128
BATCHES = 2
"""Computed at once, so that no core waits for the end of one."""

EVEN = 1.25
"""Largest shard over the mean, up to which splitting gains."""


class Threads:
    """Compute threads, each with its part of the CPU's cores, shared by the encoders of one process."""

    def __init__(self, cores: int) -> None:
        self.count = max(1, min(cores, MOST_SHARDS))
        self.pool = ThreadPoolExecutor(self.count, thread_name_prefix="shard")
        all_started = Barrier(self.count)
        starts = [self.pool.submit(_start, cores // self.count or 1, all_started) for _ in range(self.count)]
        for each in starts:
            each.result()
        torch.set_num_threads(cores)  # The shards' threads keep their numbers; every other thread gets all cores.


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
    """Indices of sequences in up to `most` shards of about equal tokens; one shard where they would be uneven."""
    total = sum(lengths)
    count = max(1, min(most, total // SMALLEST_SHARD_TOKENS))
    shards: list[list[int]] = [[] for _ in range(count)]
    tokens = [0] * count
    for index in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        least = tokens.index(min(tokens))
        shards[least].append(index)
        tokens[least] += lengths[index]
    return shards if max(tokens) <= EVEN * total / count else [list(range(len(lengths)))]


def _start(cores: int, all_started: Barrier) -> None:
    torch.get_num_threads()  # A thread's first call takes the process's number; only after it does its own number last.
    torch.set_num_threads(cores)
    all_started.wait()
