"""A batch on a CPU as several shares, each judged by a thread of its own: no thread waits for another in the middle.

Splitting every matrix product over all cores makes them wait for each other some hundred times a batch, and a core that
another process borrows stops all of them. Shares of equal work wait once, at the end, and not even there when a second
batch is in flight: its shares begin on the threads that the first one no longer needs. Owns how a batch is shared out;
does not know the model. A batch that cannot be shared evenly, such as a lone document, gets all cores as before.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import torch

from service.core.arrays import Logits, TokenIds
from service.engine.execution.encoder_protocol import Encoder

MOST_SHARES = 4
"""Python launches the operators of one share at a time, so more shares than these would wait for it."""

SMALLEST_SHARE_TOKENS = 128
BATCHES = 2
"""Batches side by side, so that no core waits for the end of one."""

EVEN = 1.25
"""Largest share over the mean, up to which sharing out is worth it."""


class Threads:
    """Compute threads, each with its part of the CPU's cores, that the encoders of one process take turns to use."""

    def __init__(self, cores: int) -> None:
        self.count = max(1, min(cores, MOST_SHARES))
        self.pool = ThreadPoolExecutor(self.count, thread_name_prefix="share")
        started = Barrier(self.count)
        begun = [self.pool.submit(_begin, cores // self.count or 1, started) for _ in range(self.count)]
        for each in begun:
            each.result()
        torch.set_num_threads(cores)  # The threads of the shares have taken theirs; all others get all cores.


class ShardedEncoder:
    """A token classifier that judges a batch in shares."""

    def __init__(self, encoder: Encoder, threads: Threads) -> None:
        self.device = encoder.device
        self.max_tokens = encoder.max_tokens
        self._encoder = encoder
        self._threads = threads

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        """Logits of each sequence: [tokens, labels] float32, in the order given."""
        shares = shard([len(tokens) for tokens in sequences], self._threads.count)
        if len(shares) == 1:
            return self._encoder.forward(sequences)
        parts = self._threads.pool.map(self._encoder.forward, ([sequences[i] for i in share] for share in shares))
        found: dict[int, Logits] = {}
        for share, part in zip(shares, parts, strict=True):
            found.update(zip(share, part, strict=True))
        return [found[index] for index in range(len(sequences))]


def shard(lengths: Sequence[int], most: int) -> list[list[int]]:
    """Indices of sequences in up to `most` shares of about equal tokens; a single share where that cannot be."""
    total = sum(lengths)
    count = max(1, min(most, total // SMALLEST_SHARE_TOKENS))
    shares: list[list[int]] = [[] for _ in range(count)]
    tokens = [0] * count
    for index in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        least = tokens.index(min(tokens))
        shares[least].append(index)
        tokens[least] += lengths[index]
    return shares if max(tokens) <= EVEN * total / count else [list(range(len(lengths)))]


def _begin(cores: int, started: Barrier) -> None:
    torch.get_num_threads()  # The first call in a thread takes the process's number; only then does its own one last.
    torch.set_num_threads(cores)
    started.wait()
