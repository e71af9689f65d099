"""The search finds the best set-up of a well-behaved peer without trying them all, and never tries one twice."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from loadtest.bench.peers.setups import MOST, Setup, best_batch_size, best_setup

FIRST = Setup(workers=1, threads=2, batch_size=4)


def peaked(workers: int, batch_size: int, tried: list[Setup]) -> Callable[[Setup], float]:
    """A peer that is fastest with these, and slower with each step away."""

    def rate(setup: Setup) -> float:
        tried.append(setup)
        away = max(setup.batch_size, batch_size) / min(setup.batch_size, batch_size)
        return (2.0 if setup.workers == workers else 1.0) / away

    return rate


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("batch_size", [1, 4, 16])
def test_the_best_is_found_and_nothing_is_tried_twice(workers: int, batch_size: int) -> None:
    tried: list[Setup] = []
    found = best_setup(FIRST, peaked(workers, batch_size, tried))
    assert (found.workers, found.workers * found.threads, found.batch_size) == (workers, 2, batch_size)
    assert len(tried) == len(set(tried)) <= 4


def test_one_core_has_nothing_to_split() -> None:
    tried: list[Setup] = []
    best_setup(Setup(1, 1, 1), peaked(1, 1, tried))
    assert tried == [Setup(1, 1, 1), Setup(1, 1, 4)]


def test_batches_stay_within_bounds() -> None:
    sizes: list[int] = []

    def growing(size: int) -> float:
        sizes.append(size)
        return float(size)

    assert best_batch_size(4, growing) == MOST
    assert sizes == [4, 1, 16]


def test_a_setup_reads_as_words() -> None:
    assert str(Setup(2, 1, 8)) == "2 × 1 thread, batches of 8"
    assert str(FIRST) == "1 × 2 threads, batches of 4"
