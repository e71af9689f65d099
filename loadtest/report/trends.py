"""What figures of whole phases do not show: a peak and its end, short and long documents, growth. Sentences; pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

import numpy as np

from loadtest.records.records import Records
from loadtest.results.summary import only_reported
from loadtest.scenario.scenario import Phase, Scenario
from loadtest.telemetry.sampler import MetricsSample

MUCH_MORE = 1.5
"""A phase's rate over that of the next one, from which it is a peak to recover from."""
SPARED = 0.05
"""Share of a second's requests that may miss the service level, though it is over."""
SHORT = 1_000
"""Tokens of a document that fits a few windows."""
FEWEST = 30
"""Answers, below which a 99th percentile is a matter of luck."""
LONG_SECONDS = 200.0
"""A shorter run says nothing about growth."""
MEBIBYTE = 2.0**20


def trends(scenario: Scenario, records: Records, moments: Sequence[MetricsSample]) -> list[str]:
    """All sentences."""
    return [*_recoveries(scenario, records), *_by_length(only_reported(records, scenario)), *_growth(moments)]


def _recoveries(scenario: Scenario, records: Records) -> list[str]:
    """For each peak: how long after its end the service level was missed."""
    starts = scenario.starts
    found = []
    for number, (peak, after) in enumerate(pairwise(scenario.phases)):
        if _is_peak(peak, after):
            begin = starts[number + 1]
            seconds = _last_bad_second(records.between(begin, starts[number + 2]), begin, scenario.slo_ms)
            level = f"the service level of {scenario.slo_ms:g} ms"
            if seconds == 0:
                found.append(f"After {peak.name!r} {level} held again at once.")
            elif seconds >= after.seconds - 1:
                found.append(f"After {peak.name!r} {level} was still MISSED {after.seconds:.0f} s later.")
            else:
                found.append(f"After {peak.name!r} it took {seconds} s until {level} held again.")
    return found


def _is_peak(peak: Phase, after: Phase) -> bool:
    constant = peak.shape == after.shape == "constant"
    return constant and not (peak.warm_up or after.warm_up) and peak.rate >= MUCH_MORE * after.rate


def _last_bad_second(due: Records, begin: float, slo_ms: float) -> int:
    """How long after `begin` the last second ended in which requests missed the service level."""
    second = (due.intended - begin).astype(np.int64)
    good = due.ok & (due.latency_ms <= slo_ms)
    bad = [int(each) for each in np.unique(second) if (~good[second == each]).mean() > SPARED]
    return bad[-1] + 1 if bad else 0


def _by_length(records: Records) -> list[str]:
    """Short documents apart from long ones, where there are both: whether the short ones wait for the long ones."""
    short, long = (records.where(records.ok & chosen) for chosen in (records.tokens <= SHORT, records.tokens > SHORT))
    if min(len(short), len(long)) < FEWEST:
        return []
    told = (f"p50 {p50:,.0f} ms, p99 {p99:,.0f} ms" for p50, p99 in map(_cuts, (short, long)))
    return [f"Documents of up to {SHORT:,} tokens: {next(told)}; longer ones: {next(told)}."]


def _cuts(records: Records) -> tuple[float, float]:
    p50, p99 = np.quantile(records.latency_ms, (0.5, 0.99))
    return float(p50), float(p99)


def _growth(moments: Sequence[MetricsSample]) -> list[str]:
    """Medians of the second and of the last quarter: what starts late settles in the first."""
    seen = [each for each in moments if each.at >= 0 and "memory_bytes" in each.values and "open_files" in each.values]
    if not seen or seen[-1].at - seen[0].at < LONG_SECONDS:
        return []
    quarter = len(seen) // 4
    early, late = seen[quarter : 2 * quarter], seen[-quarter:]
    memory = [median(each.values["memory_bytes"] for each in part) / MEBIBYTE for part in (early, late)]
    files = [median(each.values["open_files"] for each in part) for part in (early, late)]
    return [
        f"From the second quarter to the last: memory {memory[0]:,.0f} → {memory[1]:,.0f} MiB "
        f"({memory[1] / memory[0] - 1:+.1%}), open files {files[0]:,.0f} → {files[1]:,.0f}."
    ]
