"""The highest rate at which the 99th percentile holds, by bisection with confidence. Pure: trials are passed in.

The rule: 99 % of the requests must be answered well within the limit, so a rate holds when the share of the others
(late, refused, failed) is at most 1 %. Neighbours in time share a queue, so the share's interval comes from blocks of
time. A trial whose interval holds 1 % says nothing: it is prolonged; one that stays undecided counts as not holding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from loadtest.records.records import Records

ALLOWED_SHARE = 0.01
CONFIDENCE_SIGMAS = 1.64
"""One-sided 95 %."""
BLOCK_SECONDS = 1.0
PRECISION = 0.05
"""The bracket is narrow enough when its ends are this close."""
WIDEN = 1.5
SURE_WITHOUT_ONE = 3.0
"""The rule of three: none bad among n bounds the share by 3 / n (95 %)."""
FEWEST = 330
"""Requests below which no trial can hold."""


class TrialVerdict(StrEnum):
    """What a trial says of its rate."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Trial:
    """One rate, tried: the share that was not answered well with its interval, and the percentile itself."""

    rate: float
    requests: int
    bad_share: float
    low: float
    high: float
    p50_ms: float
    p99_ms: float
    word: TrialVerdict


@dataclass(frozen=True, slots=True)
class Knee:
    """The bracket: `holds` is the highest rate that held, `fails` the lowest that did not."""

    holds: float
    fails: float
    trials: tuple[Trial, ...]


def evaluate(rate: float, records: Records, slo_ms: float, *, last: bool = False) -> Trial:
    """What the requests of a trial say; in the last one, what is undecided fails."""
    bad = ~(records.ok & (records.latency_ms <= slo_ms))
    share, error = _share(bad, records.intended)
    low, high = share - CONFIDENCE_SIGMAS * error, share + CONFIDENCE_SIGMAS * error
    high = max(high, SURE_WITHOUT_ONE / max(len(records), 1))
    word = (
        TrialVerdict.HOLDS
        if high <= ALLOWED_SHARE
        else TrialVerdict.FAILS
        if low > ALLOWED_SHARE or last
        else TrialVerdict.UNDECIDED
    )
    good = records.latency_ms[records.ok]
    cuts = np.quantile(good, (0.5, 0.99)) if len(good) else (math.inf, math.inf)
    return Trial(rate, len(records), share, max(low, 0.0), high, float(cuts[0]), float(cuts[1]), word)


def find_knee(guess: float, attempt: Callable[[float], Trial], precision: float = PRECISION) -> Knee:
    """Bracket the knee around a guess of the capacity, then halve the bracket (in proportion) until it is narrow."""
    holds, fails, trials = 0.0, math.inf, []
    rate = guess * 0.7
    while not holds or fails / holds > 1 + precision:
        trial = attempt(rate)
        trials.append(trial)
        if trial.word is TrialVerdict.HOLDS:
            holds = max(holds, rate)
        else:
            fails = min(fails, rate)
        if fails < guess / 100:
            return Knee(0.0, fails, tuple(trials))
        rate = holds * WIDEN if math.isinf(fails) else fails / 2 if not holds else math.sqrt(holds * fails)
    return Knee(holds, fails, tuple(trials))


def _share(bad: np.typing.NDArray[np.bool_], times: np.typing.NDArray[np.float64]) -> tuple[float, float]:
    """A ratio over blocks of time and its standard error; never surer than independent requests would make it."""
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
