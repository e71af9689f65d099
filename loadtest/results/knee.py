"""Bisection for the highest rate at which the 99th percentile holds, with confidence. Pure: trials are passed in.

A rate holds when at most 1 % of its requests are bad: late, refused or failed. Requests in one queue are not
independent, so the share's interval comes from blocks of time. A trial whose interval contains 1 % is undecided and is
prolonged; if it stays undecided, the rate counts as failing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import msgspec
import numpy as np

from loadtest.generator.records import Records

ALLOWED_SHARE = 0.01
CONFIDENCE_SIGMAS = 1.64
"""Standard errors of a one-sided interval of 95 %."""
BLOCK_SECONDS = 1.0
PRECISION = 0.05
"""Relative width at which the bracket is narrow enough."""
WIDEN = 1.5
RULE_OF_THREE = 3.0
"""Bound n × share of bad requests, at 95 %, if none of n requests was bad."""
MIN_REQUESTS = 330
"""Requests without which no trial can hold."""


class TrialVerdict(StrEnum):
    """The verdict on a rate."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"


class Trial(msgspec.Struct, frozen=True, rename={"verdict": "word"}):
    """A trial of one rate: the share of bad requests with its interval, and the latency. Stored in capacity.json."""

    rate: float
    requests: int
    bad_share: float
    low: float
    high: float
    p50_ms: float
    p99_ms: float
    verdict: TrialVerdict


@dataclass(frozen=True, slots=True)
class Knee:
    """The bracket: `holds` is the highest rate that held, `fails` the lowest that did not."""

    holds: float
    fails: float
    trials: tuple[Trial, ...]


def evaluate(rate: float, records: Records, slo_ms: float, *, last: bool = False) -> Trial:
    """Evaluate the requests of a trial; in the last one an undecided rate fails."""
    bad = ~(records.ok & (records.latency_ms <= slo_ms))
    share, error = _share(bad, records.intended)
    low, high = share - CONFIDENCE_SIGMAS * error, share + CONFIDENCE_SIGMAS * error
    high = max(high, RULE_OF_THREE / max(len(records), 1))
    if high <= ALLOWED_SHARE:
        verdict = TrialVerdict.HOLDS
    else:
        verdict = TrialVerdict.FAILS if low > ALLOWED_SHARE or last else TrialVerdict.UNDECIDED
    good = records.latency_ms[records.ok]
    cuts = np.quantile(good, (0.5, 0.99)) if len(good) else (math.inf, math.inf)
    return Trial(rate, len(records), share, max(low, 0.0), high, float(cuts[0]), float(cuts[1]), verdict)


def find_knee(guess: float, attempt: Callable[[float], Trial]) -> Knee:
    """Bracket the knee around a guess of the capacity, then halve the bracket geometrically until it is narrow."""
    holds, fails, trials = 0.0, math.inf, []
    rate = guess * 0.7
    while not holds or fails / holds > 1 + PRECISION:
        trial = attempt(rate)
        trials.append(trial)
        if trial.verdict is TrialVerdict.HOLDS:
            holds = max(holds, rate)
        else:
            fails = min(fails, rate)
        if fails < guess / 100:
            return Knee(0.0, fails, tuple(trials))
        rate = holds * WIDEN if math.isinf(fails) else fails / 2 if not holds else math.sqrt(holds * fails)
    return Knee(holds, fails, tuple(trials))


def _share(bad: np.typing.NDArray[np.bool_], times: np.typing.NDArray[np.float64]) -> tuple[float, float]:
    """The share of bad requests and its standard error over blocks of time; at least that of independent requests."""
    if not len(bad):
        return 1.0, 0.0
    number = np.floor((times - times.min()) / BLOCK_SECONDS).astype(np.int64)
    counts = np.bincount(number).astype(np.float64)
    sums = np.bincount(number, weights=bad.astype(np.float64))
    share = float(bad.mean())
    rest = sums - share * counts
    blocks = max(int((counts > 0).sum()), 2)
    clustered = math.sqrt(float((rest**2).sum()) * blocks / (blocks - 1)) / len(bad)
    independent = math.sqrt(share * (1 - share) / len(bad))
    return share, max(clustered, independent)
