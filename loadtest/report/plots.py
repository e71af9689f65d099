"""The charts of a report, specified from a result. One without data is left out of the report, which names it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from loadtest.records.answer import STAGES
from loadtest.report.chart import Band, Bars, Chart, Series
from loadtest.report.series import by_reason, inside, per_second, quantile_over_time, unless_zero
from loadtest.report.service_plots import service_plots
from loadtest.results.result import Result
from loadtest.results.summary import Figures, by_rate

SECONDS = "seconds since the start"
QUANTILES = (("p50", 0.5, "sky"), ("p90", 0.9, "blue"), ("p99", 0.99, "navy"))
STAGE_COLOURS = dict(zip(STAGES[:5], ("gold", "teal", "grey", "blue", "purple"), strict=True))
REASON_COLOURS = ("orange", "red", "purple", "gold", "teal", "grey", "navy")
NINES = (0.0, 0.5, 0.9, 0.99, 0.999, 0.9999)


def plots(result: Result) -> list[Chart | Bars]:
    """All charts, in reading order."""
    over_time = [latency_over_time(result), flow(result)]
    later = [refusals(result), *service_plots(result), generator(result)]
    return [
        *_against_rate(result),
        *(_with_phases(chart, result) for chart in over_time),
        by_percentile(result),
        stages(result),
        *(_with_phases(chart, result) for chart in later),
    ]


def _against_rate(result: Result) -> list[Chart | Bars]:
    """Charts over the offered rate, where the phases differ in it."""
    phases = by_rate(result.summary.phases, result.scenario)
    if not phases:
        return []
    return [latency_by_rate(result, phases), throughput_by_rate(phases)]


def latency_by_rate(result: Result, phases: list[Figures]) -> Chart:
    lines = (
        Series(name, tuple((p.offered_rps, p.latency_ms[name]) for p in phases if p.latency_ms), colour, dots=True)
        for name, _, colour in QUANTILES
    )
    return Chart(
        "latency-by-rate",
        "Latency against offered rate",
        "Good answers of each phase, from the intended time of the request. Where p99 turns up is the knee.",
        "offered requests per second",
        "latency, ms (log)",
        tuple(lines),
        limit=_service_level(result),
        log_y=True,
    )


def throughput_by_rate(phases: list[Figures]) -> Chart:
    top = max(phase.offered_rps for phase in phases)
    return Chart(
        "throughput-by-rate",
        "Throughput and goodput against offered rate",
        "Answers that came in each phase; goodput counts those within the service level. Dashed: all that was offered.",
        "offered requests per second",
        "answers per second",
        (
            Series("offered", ((0.0, 0.0), (top, top)), "grey", dashed=True),
            Series("throughput", tuple((p.offered_rps, p.throughput_rps) for p in phases), "blue", broad=True),
            Series("goodput", tuple((p.offered_rps, p.goodput_rps) for p in phases), "green", dots=True),
            Series("refused", tuple((p.offered_rps, p.refused / p.seconds) for p in phases), "orange", dots=True),
        ),
    )


def latency_over_time(result: Result) -> Chart:
    good = result.records.where(result.records.ok)
    seconds = result.scenario.seconds
    return Chart(
        "latency",
        "Latency over time",
        "Good answers by the time at which they were due.",
        SECONDS,
        "latency, ms (log)",
        tuple(
            Series(name, quantile_over_time(good.intended, good.latency_ms, seconds, quantile), colour)
            for name, quantile, colour in QUANTILES
        ),
        limit=_service_level(result),
        log_y=True,
    )


def flow(result: Result) -> Chart:
    records, seconds = result.records, result.scenario.seconds
    in_time = records.latency_ms <= result.scenario.slo_ms
    answered, good = records.where(records.ok), records.where(records.ok & in_time)
    refused, failed = records.where(records.refused), records.where(records.failed)
    return Chart(
        "flow",
        "Offered, answered, refused",
        "Requests per second: offered by the time at which they were due, the others by the time of their answer.",
        SECONDS,
        "requests per second",
        (
            Series("offered", per_second(records.intended, seconds), "grey", dashed=True),
            Series("answered", per_second(inside(answered, seconds), seconds), "blue", broad=True),
            Series("goodput", per_second(inside(good, seconds), seconds), "green"),
            Series("refused", unless_zero(per_second(inside(refused, seconds), seconds)), "orange"),
            Series("failed", unless_zero(per_second(inside(failed, seconds), seconds)), "red"),
        ),
    )


def by_percentile(result: Result) -> Chart:
    """The whole distribution, with its tail stretched: the axis is -log10(1 - percentile)."""
    good = result.records.latency_ms[result.records.ok]
    deepest = np.log10(max(len(good), 10))
    places = np.linspace(0, deepest, 160)
    points = tuple((float(p), float(np.quantile(good, 1 - 10.0**-p))) for p in places) if len(good) else ()
    ticks = tuple((-float(np.log10(1 - each)), f"{each * 100:g} %") for each in NINES if -np.log10(1 - each) <= deepest)
    return Chart(
        "percentiles",
        "Latency by percentile",
        "All good answers of the run; each step to the right is the worst tenth of what is left.",
        "share of the answers that were faster",
        "latency, ms (log)",
        (Series("latency", points, "navy"),),
        limit=_service_level(result),
        log_y=True,
        x_ticks=ticks,
    )


def stages(result: Result) -> Bars:
    """Mean times by stage: means add up, quantiles do not."""
    phases = [phase for phase in result.summary.phases if phase.latency_ms]

    def mean(phase: Figures, stage: str) -> float:
        return phase.stages_ms[stage].get("mean", 0.0)

    parts = [(stage, STAGE_COLOURS[stage], tuple(mean(p, stage) for p in phases)) for stage in STAGE_COLOURS]
    inner = [sum(mean(phase, stage) for stage in STAGE_COLOURS) for phase in phases]
    whole = [max(mean(phase, "total"), known) for phase, known in zip(phases, inner, strict=True)]
    parts.append(("rest of the service", "navy", tuple(w - i for w, i in zip(whole, inner, strict=True))))
    outside = (max(p.latency_ms["mean"] - w, 0.0) for p, w in zip(phases, whole, strict=True))
    parts.append(("outside (network, accepting)", "orange", tuple(outside)))
    return Bars(
        "stages",
        "Where the time goes",
        "Mean milliseconds of a good answer in each stage, by phase, from the service's own timing.",
        "milliseconds (mean)",
        tuple(phase.name for phase in phases),
        tuple(parts),
    )


def refusals(result: Result) -> Chart:
    found = by_reason(result.records, result.scenario.seconds)
    lines = (
        Series(name, points, colour) for (name, points), colour in zip(found.items(), REASON_COLOURS, strict=False)
    )
    return Chart(
        "refusals",
        "Refusals and failures by reason",
        "Per second, stacked, by the time of the answer.",
        SECONDS,
        "requests per second",
        tuple(lines),
        stacked=True,
    )


def generator(result: Result) -> Chart:
    records, seconds = result.records, result.scenario.seconds
    return Chart(
        "generator",
        "The generator's own lag",
        "How late requests left, sent less intended: the generator's part of the latencies above.",
        SECONDS,
        "lag, ms",
        tuple(
            Series(name, quantile_over_time(records.intended, records.lag_ms, seconds, quantile), colour)
            for name, quantile, colour in QUANTILES[::2]
        ),
    )


def _service_level(result: Result) -> tuple[float, str]:
    return result.scenario.slo_ms, f"service level {result.scenario.slo_ms:g} ms"


def _with_phases(chart: Chart, result: Result) -> Chart:
    """A chart over time with the phases and events of the run."""
    names = (phase.name for phase in result.scenario.phases)
    bands = tuple(Band(a, b, name) for (a, b), name in zip(pairwise(result.scenario.starts), names, strict=True))
    return replace(chart, bands=bands, events=tuple(result.summary.events))
