"""The check of a captured graph: it is kept if it computes what the plain forward pass computes, and a tenth faster.

It is compared with the plain pass over the same batch filled up to the same size by ordinary sequences: matrices of
other sizes are summed in another order, and in half precision two correct passes may then differ as much as a correct
and a wrong one. (That batch mates change nothing is checked at load, by encoder/packing_check.py.) It is timed against
the plain pass of the batch alone, for the batch that gains least.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from service.core.arrays import Logits, TokenIds
from service.engine.cuda_graphs.buckets import Bucket

Forward: TypeAlias = Callable[[Sequence[TokenIds]], list[Logits]]
Clock: TypeAlias = Callable[[], float]

ROUNDING = {"float32": 1e-4, "float16": 0.005, "bfloat16": 0.02, "fp8": 0.1}
"""Limit of a sequence's mean error, as a share of the mean size of its logits. Mixed-up sequences have about a half,
the same kernels on the same values none. In fp8 a last bit of attention may move a number to its neighbour, 6 % off."""

LEAST_GAIN = 0.1
RUNS = 9


@dataclass(frozen=True, slots=True)
class GraphCheck:
    """The largest error of a sequence, and median seconds from token ids to logits on the host."""

    error: float
    plain_seconds: float
    graph_seconds: float

    def is_accurate(self, dtype_name: str) -> bool:
        return self.error <= ROUNDING[dtype_name]  # NaN compares False, so a graph that produces NaN is rejected.

    @property
    def is_faster(self) -> bool:
        return self.graph_seconds <= (1 - LEAST_GAIN) * self.plain_seconds

    def is_good(self, dtype_name: str) -> bool:
        return self.is_accurate(dtype_name) and self.is_faster


def compare(filled: Forward, graph: Forward, samples: Sequence[Sequence[TokenIds]]) -> float:
    """The largest error over all samples, the first of them once more after the others; NaN if any logit is NaN."""
    return float(np.max([worst_error(filled(sample), graph(sample)) for sample in (*samples, samples[0])]))


def race(plain: Forward, graph: Forward, sample: Sequence[TokenIds], clock: Clock) -> tuple[float, float]:
    """Median seconds of the plain pass and of the graph, run alternately."""
    times = [(_timed(plain, sample, clock), _timed(graph, sample, clock)) for _ in range(RUNS)]
    plain_seconds, graph_seconds = zip(*times, strict=True)
    return statistics.median(plain_seconds), statistics.median(graph_seconds)


def worst_error(right: Sequence[Logits], found: Sequence[Logits]) -> float:
    """The largest of all sequences' mean error ÷ mean size; NaN if any logit is NaN."""
    return float(np.max([np.abs(b - a).mean() / np.abs(a).mean() for a, b in zip(right, found, strict=True)]))


def random_samples(bucket: Bucket, vocabulary_size: int, seed: int = 0) -> Iterator[list[TokenIds]]:
    """Batches of random ids in the bucket's sample lengths; the first is the one that gains least."""
    random = np.random.default_rng(seed)
    for lengths in bucket.samples():
        yield [random.integers(0, vocabulary_size, length).astype(np.int32) for length in lengths]


def _timed(forward: Forward, sample: Sequence[TokenIds], clock: Clock) -> float:
    begun = clock()
    forward(sample)
    return clock() - begun
