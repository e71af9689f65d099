"""Whether a score means what it says: the expected calibration error over ten bins (Guo et al., 2017)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

BINS = 10


@dataclass(frozen=True, slots=True)
class ScoreBin:
    """Entities whose scores lie between two tenths: how many, their mean score, and the share that is right."""

    above: float
    entities: int
    mean_score: float
    right: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """`error`: the mean distance of score and share that is right, bins weighted by their entities."""

    error: float
    bins: tuple[ScoreBin, ...]


def calibration(scored: Iterable[tuple[float, bool]]) -> Reliability:
    """Of (score, whether exact span and label are right) of each entity that was found; bins without any are absent."""
    binned: dict[int, list[tuple[float, bool]]] = {}
    for score, right in scored:
        binned.setdefault(min(int(score * BINS), BINS - 1), []).append((score, right))
    bins = tuple(_bin(number, binned[number]) for number in sorted(binned))
    total = sum(each.entities for each in bins)
    distance = sum(each.entities * abs(each.mean_score - each.right) for each in bins)
    return Reliability(distance / total if total else 0.0, bins)


def _bin(number: int, scored: list[tuple[float, bool]]) -> ScoreBin:
    count = len(scored)
    return ScoreBin(number / BINS, count, sum(s for s, _ in scored) / count, sum(r for _, r in scored) / count)
