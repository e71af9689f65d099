"""Set-ups of a peer's server, and the search for the fastest one. Pure: the measurement is passed in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

STEP = 4
MOST = 16
"""Larger batches only wait and pad: on the CPUs tried, throughput falls from much smaller ones on."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Worker processes, threads of each, and the largest batch that the server collects."""

    workers: int
    threads: int
    batch_size: int

    def __str__(self) -> str:
        return f"{self.workers} × {_several(self.threads, 'thread')}, batches of {self.batch_size}"


def best_setup(first: Setup, measure: Callable[[Setup], float]) -> Setup:
    """The fastest set-up found: first workers and threads exchanged, then smaller or larger batches while that gains.

    `measure` returns documents per second, and is called once per set-up.
    """
    found: dict[Setup, float] = {}

    def rate(setup: Setup) -> float:
        if setup not in found:
            found[setup] = measure(setup)
        return found[setup]

    best = max(first, replace(first, workers=first.threads, threads=first.workers), key=rate)
    for step in (_smaller, _larger):
        start = best
        while (other := step(best)) is not None and rate(other) > rate(best):
            best = other
        if best != start:
            break
    return best


def best_batch_size(first: int, measure: Callable[[int], float]) -> int:
    """The fastest batch size found, for software without workers or threads to choose."""
    return best_setup(Setup(1, 1, first), lambda setup: measure(setup.batch_size)).batch_size


def _smaller(setup: Setup) -> Setup | None:
    return replace(setup, batch_size=setup.batch_size // STEP) if setup.batch_size >= STEP else None


def _larger(setup: Setup) -> Setup | None:
    return replace(setup, batch_size=setup.batch_size * STEP) if setup.batch_size * STEP <= MOST else None


def _several(count: int, word: str) -> str:
    return f"{count} {word}" + "s" * (count != 1)
