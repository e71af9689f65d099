"""Counts of spans by group, the rates that follow from them, and intervals by drawing groups again.

The rule: groups are drawn, not documents (Efron and Tibshirani, 1993, chapter 8): documents of one company or template
are right or wrong together, and an interval over documents would be far too narrow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

DRAWS = 1_000
LEAST_GROUPS = 5
"""With fewer groups there is no interval worth the name."""
_SEED = 20931
_AT_ONCE = 1_000_000
"""Weights that are drawn at a time."""


@dataclass(frozen=True, slots=True)
class SpanScore:
    """Rates of exact spans; `low` and `high`: the 95 % interval of F1, None with fewer than `LEAST_GROUPS` groups."""

    gold: int
    found: int
    right: int
    groups: int
    low: float | None
    high: float | None

    @property
    def precision(self) -> float:
        """Share of what was found that is right."""
        return self.right / max(1, self.found)

    @property
    def recall(self) -> float:
        """Share of the truth that was found."""
        return self.right / max(1, self.gold)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return 2 * self.right / max(1, self.gold + self.found)


@dataclass(slots=True)
class Tally:
    """Gold, found and right spans of each group."""

    counts: dict[Hashable, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0, 0]))

    def add(self, group: Hashable, *, gold: int, found: int, right: int) -> None:
        """Count a document, or a part of it, for its group."""
        of_group = self.counts[group]
        of_group[0] += gold
        of_group[1] += found
        of_group[2] += right

    def score(self) -> SpanScore:
        """The rates over all groups."""
        counts = np.array(list(self.counts.values()), dtype=np.int64).reshape(-1, 3)
        gold, found, right = counts.sum(axis=0).tolist()
        low, high = interval(counts) if len(counts) >= LEAST_GROUPS else (None, None)
        return SpanScore(gold, found, right, len(counts), low, high)


def interval(counts: NDArray[np.int64]) -> tuple[float, float]:
    """The 95 % interval of F1 when groups are drawn with replacement; `counts` [groups, 3] as in `Tally`."""
    random = np.random.default_rng(_SEED)
    groups = len(counts)
    rates: list[NDArray[np.float64]] = []
    draws = max(1, min(DRAWS, _AT_ONCE // groups))
    for _ in range(0, DRAWS, draws):
        weights = random.multinomial(groups, np.full(groups, 1 / groups), size=draws)
        gold, found, right = (weights @ counts).T
        rates.append(2 * right / np.maximum(1, gold + found))
    low, high = np.percentile(np.concatenate(rates), (2.5, 97.5)).tolist()
    return low, high
