"""Figures of each phase and of the whole run, as plain numbers for summary.json. Pure.

Latency is that of good answers, from the intended time. Goodput counts answers within the service level (`slo_ms`, and
the deadline where requests have one). Refusals are not counted as errors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import msgspec
import numpy as np

from loadtest.generator.records import STAGES, TOO_LONG, Records, Window, inside
from loadtest.generator.run import GeneratorHealth
from loadtest.generator.sampler import MetricsSample
from loadtest.scenario.scenario import Scenario

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
    records, seconds = everything.where(inside(everything.intended, windows)), sum(length for _, length in windows)
    ended = everything.where(inside(everything.done, windows))
    ok, refused, failed = records.ok, records.refused, records.failed
    for_now = refused & (records.outcome != TOO_LONG)
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
        refusals_without_retry_after=int((for_now & np.isnan(records.retry_after)).sum()),
        late_accepted=int((ok & (latency > deadline_ms)).sum()) if deadline_ms else 0,
    )


def by_phase(records: Records, scenario: Scenario) -> list[Figures]:
    """The figures of each reported phase."""
    limits = {"slo_ms": scenario.slo_ms, "deadline_ms": float(scenario.mix.deadline_ms)}
    return [figures(phase.name, records, [(begin, phase.seconds)], **limits) for phase, begin in scenario.reported]


def overall(records: Records, scenario: Scenario) -> Figures:
    """The figures of all reported phases together."""
    deadline_ms = float(scenario.mix.deadline_ms)
    return figures("all", records, scenario.windows, slo_ms=scenario.slo_ms, deadline_ms=deadline_ms)


def by_rate(phases: Iterable[Figures], scenario: Scenario) -> list[Figures]:
    """The phases that show the service at their rate, slowest first; none if there are fewer than `MIN_RATES` rates.

    A phase right after a higher rate is left out, since it begins with that one's queue.
    """
    begins = {begin for _, begin in scenario.reported}
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


class Summary(msgspec.Struct, frozen=True):
    """summary.json. `capacity_rps`: requests per second at full load, where rates are shares of it."""

    title: str
    at: str
    url: str
    machine: str
    capacity_rps: float | None
    whole: Figures
    phases: list[Figures]
    generator: GeneratorHealth
    revisions: dict[str, int]
    events: list[tuple[float, str]]
    findings: list[str]
    scenario: Scenario
    capacity_source: str = "measured first"


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """The data of a report."""

    summary: Summary
    records: Records
    samples: tuple[MetricsSample, ...]

    @property
    def scenario(self) -> Scenario:
        return self.summary.scenario


def summarise(
    scenario: Scenario,
    records: Records,
    generator: GeneratorHealth,
    *,
    at: str,
    url: str,
    machine: str,
    capacity_rps: float | None,
    events: list[tuple[float, str]],
) -> Summary:
    """The summary of a run, without findings."""
    counted = records.due_in(scenario.windows)
    good = counted.revision[counted.ok].tolist()
    return Summary(
        title=scenario.title,
        at=at,
        url=url,
        machine=machine,
        capacity_rps=capacity_rps,
        whole=overall(records, scenario),
        phases=by_phase(records, scenario),
        generator=generator,
        revisions={revision: good.count(revision) for revision in dict.fromkeys(good) if revision},
        events=events,
        findings=[],
        scenario=scenario,
    )
