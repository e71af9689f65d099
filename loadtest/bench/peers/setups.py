"""How a peer's server is set up, and the search for the set-up that suits it best. Pure: the measuring is passed in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

STEP = 4
MOST = 16
"""Batches beyond this only wait and pad: on the CPUs tried, throughput falls from far smaller ones on."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Worker processes, threads of each, and the most documents that the server collects for one call."""

    workers: int
    threads: int
    batch_size: int

    def __str__(self) -> str:
        return f"{self.workers} × {_several(self.threads, 'thread')}, batches of {self.batch_size}"


def best_setup(first: Setup, measure: Callable[[Setup], float]) -> Setup:
    """The fastest found: the cores split the other way round, then batches in steps up or down while that helps.

    `measure` gives documents per second, and is asked once for each set-up that is tried.
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


def best_size(first: int, measure: Callable[[int], float]) -> int:
    """The same for software whose only choice is the batch size."""
    return best_setup(Setup(1, 1, first), lambda setup: measure(setup.batch_size)).batch_size


def _smaller(setup: Setup) -> Setup | None:
    return replace(setup, batch_size=setup.batch_size // STEP) if setup.batch_size >= STEP else None


def _larger(setup: Setup) -> Setup | None:
    return replace(setup, batch_size=setup.batch_size * STEP) if setup.batch_size * STEP <= MOST else None


def _several(count: int, word: str) -> str:
    return f"{count} {word}" + "s" * (count != 1)
