"""Trends within phases, as sentences: recovery after a peak, short and long documents, growth of memory. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

import numpy as np

from loadtest.records.records import Records
from loadtest.results.summary import only_reported
from loadtest.scenario.scenario import Phase, Scenario
from loadtest.telemetry.sampler import MetricsSample

PEAK_RATIO = 1.5
"""The ratio of a phase's rate to the next one's from which it is a peak."""
TOLERATED_SHARE = 0.05
"""The share of a second's requests that may miss the service level after a recovery."""
SHORT_TOKENS = 1_000
"""The length up to which a document counts as short: a few windows."""
MIN_ANSWERS = 30
"""Answers without which a 99th percentile is left to chance."""
MIN_GROWTH_SECONDS = 200.0
"""The length of a run without which growth cannot be seen."""
MEBIBYTE = 2.0**20


def trends(scenario: Scenario, records: Records, samples: Sequence[MetricsSample]) -> list[str]:
    """The sentences on all trends that a run shows."""
    return [*_recoveries(scenario, records), *_by_length(only_reported(records, scenario)), *_growth(samples)]


def _recoveries(scenario: Scenario, records: Records) -> list[str]:
    """How long after each peak the service level was missed."""
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
    return constant and not (peak.warm_up or after.warm_up) and peak.rate >= PEAK_RATIO * after.rate


def _last_bad_second(due: Records, begin: float, slo_ms: float) -> int:
    """Seconds from `begin` to the end of the last second in which requests missed the service level."""
    second = (due.intended - begin).astype(np.int64)
    good = due.ok & (due.latency_ms <= slo_ms)
    bad = [int(each) for each in np.unique(second) if (~good[second == each]).mean() > TOLERATED_SHARE]
    return bad[-1] + 1 if bad else 0


def _by_length(records: Records) -> list[str]:
    """Latencies of short and of long documents, where there are both: do short ones wait for long ones?"""
    short, long = (
        records.where(records.ok & chosen) for chosen in (records.tokens <= SHORT_TOKENS, records.tokens > SHORT_TOKENS)
    )
    if min(len(short), len(long)) < MIN_ANSWERS:
        return []
    cuts = (f"p50 {p50:,.0f} ms, p99 {p99:,.0f} ms" for p50, p99 in map(_cuts, (short, long)))
    return [f"Documents of up to {SHORT_TOKENS:,} tokens: {next(cuts)}; longer ones: {next(cuts)}."]


def _cuts(records: Records) -> tuple[float, float]:
    p50, p99 = np.quantile(records.latency_ms, (0.5, 0.99))
    return float(p50), float(p99)


def _growth(samples: Sequence[MetricsSample]) -> list[str]:
    """Medians of the second and of the last quarter: the first one has what starts late."""
    known = [each for each in samples if each.at >= 0 and "memory_bytes" in each.values and "open_files" in each.values]
    if not known or known[-1].at - known[0].at < MIN_GROWTH_SECONDS:
        return []
    quarter = len(known) // 4
    early, late = known[quarter : 2 * quarter], known[-quarter:]
    memory = [median(each.values["memory_bytes"] for each in part) / MEBIBYTE for part in (early, late)]
    files = [median(each.values["open_files"] for each in part) for part in (early, late)]
    return [
        f"From the second quarter to the last: memory {memory[0]:,.0f} → {memory[1]:,.0f} MiB "
        f"({memory[1] / memory[0] - 1:+.1%}), open files {files[0]:,.0f} → {files[1]:,.0f}."
    ]
