"""Comparison of two runs of a scenario: which figures of B differ from those of A, by a block bootstrap. Pure.

Blocks of time are resampled, since neighbouring requests are not independent. A difference counts when the 95 %
interval of the ratio B / A excludes 1 *and* the ratio is off by at least 3 %: the interval excludes chance, the
margin excludes effects that do not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from loadtest.generator.records import Records

BLOCK_SECONDS = 1.0
DRAWS = 1_000
LEVEL = 0.95
Statistic = Callable[[npt.NDArray[np.float64]], float]


def blocks(values: npt.NDArray[np.float64], times: npt.NDArray[np.float64]) -> list[npt.NDArray[np.float64]]:
    """The values, grouped by the block of time in which each was due."""
    number = np.floor((times - (times.min() if len(times) else 0.0)) / BLOCK_SECONDS).astype(np.int64)
    return [values[number == each] for each in np.unique(number)]


def resampled(parts: list[npt.NDArray[np.float64]], statistic: Statistic, seed: int) -> npt.NDArray[np.float64]:
    """The statistic of DRAWS samples, each of as many blocks drawn with replacement."""
    draw = np.random.default_rng(seed)
    picks = draw.integers(0, len(parts), size=(DRAWS, len(parts)))
    return np.array([statistic(np.concatenate([parts[index] for index in pick])) for pick in picks])


def interval(samples: npt.NDArray[np.float64]) -> tuple[float, float]:
    """The central interval that contains the share LEVEL of the samples."""
    low, high = np.quantile(samples, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return float(low), float(high)


def latency_samples(records: Records, quantile: float, seed: int) -> npt.NDArray[np.float64]:
    """Resampled quantiles of the latency of good answers, in milliseconds."""
    good = records.where(records.ok)
    return resampled(blocks(good.latency_ms, good.intended), lambda values: float(np.quantile(values, quantile)), seed)


MARGIN = 0.03
MIN_ANSWERS = 30
"""Good answers without which a phase is not compared."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure of one phase in A and in B, with the interval of their ratio B / A."""

    phase: str
    figure: str
    before: float
    after: float
    low: float
    high: float
    verdict: str

    @property
    def change(self) -> float:
        return self.after / self.before - 1 if self.before else float("nan")


def compare(phase: str, before: Records, after: Records, slo_ms: float) -> list[Difference]:
    """The differences in p50, p99 and the share of requests answered within the service level."""
    if min(before.ok.sum(), after.ok.sum()) < MIN_ANSWERS:
        return []
    found = []
    for figure, quantile in (("p50_ms", 0.5), ("p99_ms", 0.99)):
        samples = [latency_samples(records, quantile, seed) for seed, records in enumerate((before, after))]
        values = [float(np.quantile(records.latency_ms[records.ok], quantile)) for records in (before, after)]
        found.append(_difference(phase, figure, values, samples, more_is_better=False))
    good = [_good(records, slo_ms) for records in (before, after)]
    shares = [
        resampled(blocks(values, records.intended), lambda part: float(part.mean()), seed)
        for seed, (values, records) in enumerate(zip(good, (before, after), strict=True))
    ]
    found.append(_difference(phase, "good_share", [float(v.mean()) for v in good], shares, more_is_better=True))
    return found


def overall_verdict(differences: list[Difference]) -> str:
    """One sentence about all differences."""
    worse = [each for each in differences if each.verdict == "worse"]
    better = [each for each in differences if each.verdict == "better"]
    if not differences:
        return "Nothing can be said: too few good answers in common phases."
    if worse and better:
        return f"Mixed: B is worse in {len(worse)} and better in {len(better)} of {len(differences)} figures."
    if worse:
        return f"B is worse in {len(worse)} of {len(differences)} figures."
    if better:
        return f"B is better in {len(better)} of {len(differences)} figures."
    return f"No difference shown in any of {len(differences)} figures."


def _difference(
    phase: str, figure: str, values: list[float], samples: list[np.typing.NDArray[np.float64]], *, more_is_better: bool
) -> Difference:
    low, high = interval(samples[1] / np.maximum(samples[0], 1e-9))
    ratio = values[1] / max(values[0], 1e-9)
    clear = not low <= 1.0 <= high and abs(ratio - 1) >= MARGIN
    grew = "better" if more_is_better else "worse"
    shrank = "worse" if more_is_better else "better"
    verdict = (grew if ratio > 1 else shrank) if clear else "no difference shown"
    return Difference(phase, figure, values[0], values[1], low, high, verdict)


def _good(records: Records, slo_ms: float) -> np.typing.NDArray[np.float64]:
    return np.asarray(records.ok & (records.latency_ms <= slo_ms), dtype=np.float64)
