"""Figures of each phase and of the whole run, as plain numbers for summary.json. Pure.

Latency is that of good answers, from the intended time. Goodput counts answers within the service level (`slo_ms`, and
the deadline where requests have one). Refusals are not counted as errors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

import msgspec
import numpy as np

from loadtest.records.answer import STAGES
from loadtest.records.records import Records
from loadtest.scenario.scenario import Phase, Scenario

Window = tuple[float, float]
"""Begin and length, in seconds."""
MIN_RATES = 3
QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}


class Figures(msgspec.Struct, frozen=True):
    """The figures of one phase. Rates are per second of the phase; `latency_ms` has p50 to p999, mean and max."""

    name: str
    begin_seconds: float
    seconds: float
    requests: int
    offered_rps: float
    throughput_rps: float
    goodput_rps: float
    tokens_per_second: float
    ok: int
    refused: int
    failed: int
    error_rate: float
    refusal_rate: float
    latency_ms: dict[str, float]
    stages_ms: dict[str, dict[str, float]]
    outcomes: dict[str, int]
    untyped_refusals: int
    refusals_without_retry_after: int
    late_accepted: int


def figures(name: str, everything: Records, windows: list[Window], *, slo_ms: float, deadline_ms: float) -> Figures:
    """The figures of the requests that were due in these windows. An answer after `deadline_ms` counts as late.

    Throughput and goodput count the answers that *ended* in the windows, whenever they were due: they are the rate of
    the service, not of the requests.
    """
    records, seconds = everything.where(_inside(everything.intended, windows)), sum(length for _, length in windows)
    ended = everything.where(_inside(everything.done, windows))
    ok, refused, failed = records.ok, records.refused, records.failed
    latency = records.latency_ms
    limit = min(slo_ms, deadline_ms) if deadline_ms else slo_ms
    count = max(len(records), 1)
    return Figures(
        name=name,
        begin_seconds=windows[0][0] if windows else 0.0,
        seconds=seconds,
        requests=len(records),
        offered_rps=len(records) / seconds,
        throughput_rps=float(ended.ok.sum()) / seconds,
        goodput_rps=float((ended.ok & (ended.latency_ms <= limit)).sum()) / seconds,
        tokens_per_second=float(ended.tokens[ended.ok].sum()) / seconds,
        ok=int(ok.sum()),
        refused=int(refused.sum()),
        failed=int(failed.sum()),
        error_rate=float(failed.sum()) / count,
        refusal_rate=float(refused.sum()) / count,
        latency_ms=quantiles(latency[ok]),
        stages_ms={stage: quantiles(records.stages_ms[ok, number]) for number, stage in enumerate(STAGES)},
        outcomes=dict(Counter(records.outcome.tolist()).most_common()),
        untyped_refusals=int((refused & ~records.typed).sum()),
        refusals_without_retry_after=int((refused & np.isnan(records.retry_after)).sum()),
        late_accepted=int((ok & (latency > deadline_ms)).sum()) if deadline_ms else 0,
    )


def by_phase(records: Records, scenario: Scenario) -> list[Figures]:
    """The figures of each reported phase."""
    limits = {"slo_ms": scenario.slo_ms, "deadline_ms": float(scenario.mix.deadline_ms)}
    return [figures(phase.name, records, [(begin, phase.seconds)], **limits) for phase, begin in reported(scenario)]


def overall(records: Records, scenario: Scenario) -> Figures:
    """The figures of all reported phases together."""
    deadline_ms = float(scenario.mix.deadline_ms)
    return figures("all", records, windows(scenario), slo_ms=scenario.slo_ms, deadline_ms=deadline_ms)


def only_reported(records: Records, scenario: Scenario) -> Records:
    """The records without those of warm-up phases."""
    return records.where(_inside(records.intended, windows(scenario)))


def windows(scenario: Scenario) -> list[Window]:
    """The times of the reported phases."""
    return [(begin, phase.seconds) for phase, begin in reported(scenario)]


def reported(scenario: Scenario) -> Iterable[tuple[Phase, float]]:
    """The phases other than warm-ups, each with its start."""
    return ((p, begin) for p, begin in zip(scenario.phases, scenario.starts, strict=False) if not p.warm_up)


def by_rate(phases: Iterable[Figures], scenario: Scenario) -> list[Figures]:
    """The phases that show the service at their rate, slowest first; none if there are fewer than `MIN_RATES` rates.

    A phase right after a higher rate is left out, since it begins with that one's queue.
    """
    begins = {begin for _, begin in reported(scenario)}
    for (before, after), begin in zip(pairwise(scenario.phases), scenario.starts[1:], strict=False):
        if not before.warm_up and before.rate > after.rate:
            begins.discard(begin)
    found = [phase for phase in phases if phase.requests and phase.begin_seconds in begins]
    different = {round(phase.offered_rps, 1) for phase in found}
    return sorted(found, key=lambda phase: phase.offered_rps) if len(different) >= MIN_RATES else []


def quantiles(values: np.typing.NDArray[np.float64]) -> dict[str, float]:
    """Quantiles, mean and maximum of the values that are not NaN; empty without any."""
    known = values[~np.isnan(values)]
    if not len(known):
        return {}
    cuts = np.quantile(known, list(QUANTILES.values()))
    found = {name: float(cut) for name, cut in zip(QUANTILES, cuts, strict=True)}
    return {**found, "mean": float(known.mean()), "max": float(known.max())}


def _inside(times: np.typing.NDArray[np.float64], windows: list[Window]) -> np.typing.NDArray[np.bool_]:
    chosen = np.zeros(len(times), dtype=np.bool_)
    for begin, length in windows:
        chosen |= (times >= begin) & (times < begin + length)
    return chosen
