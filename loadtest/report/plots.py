"""The plots of a report, built from a result. Those for which nothing was seen are left out, and named as left out."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from loadtest.records.answer import STAGES
from loadtest.report.chart import Band, Bars, Chart, Points, Series
from loadtest.report.series import by_reason, inside, per_second, quantile_over_time
from loadtest.results.result import Result
from loadtest.results.summary import Figures, by_rate
from loadtest.telemetry.sampler import MetricsSample, rates

SECONDS = "seconds since the start"
MEBIBYTE = 2.0**20
QUANTILES = (("p50", 0.5, "sky"), ("p90", 0.9, "blue"), ("p99", 0.99, "navy"))
STAGE_COLOURS = dict(zip(STAGES[:5], ("gold", "teal", "grey", "blue", "purple"), strict=True))
REASONS = ("orange", "red", "purple", "gold", "teal", "grey", "navy")
NINES = (0.0, 0.5, 0.9, 0.99, 0.999, 0.9999)


def plots(result: Result) -> list[Chart | Bars]:
    """All of them, in the order in which they are read."""
    return [
        *_against_rate(result),
        latency_over_time(result),
        flow(result),
        by_percentile(result),
        stages(result),
        refusals(result),
        *_from_the_service(result),
        generator(result),
    ]


def _against_rate(result: Result) -> list[Chart | Bars]:
    """Only where phases differ in their rates."""
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
        limit=(result.scenario.slo_ms, f"service level {result.scenario.slo_ms:g} ms"),
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
    chart = Chart(
        "latency",
        "Latency over time",
        "Good answers by the time at which they were due.",
        SECONDS,
        "latency, ms (log)",
        tuple(
            Series(name, quantile_over_time(good.intended, good.latency_ms, seconds, quantile), colour)
            for name, quantile, colour in QUANTILES
        ),
        limit=(result.scenario.slo_ms, f"service level {result.scenario.slo_ms:g} ms"),
        log_y=True,
    )
    return _framed(chart, result)


def flow(result: Result) -> Chart:
    records, seconds = result.records, result.scenario.seconds
    late = records.latency_ms <= result.scenario.slo_ms
    chart = Chart(
        "flow",
        "Offered, answered, refused",
        "Requests per second: offered by the time at which they were due, the others by the time of their answer.",
        SECONDS,
        "requests per second",
        (
            Series("offered", per_second(records.intended, seconds), "grey", dashed=True),
            Series("answered", per_second(inside(records.where(records.ok), seconds), seconds), "blue", broad=True),
            Series("goodput", per_second(inside(records.where(records.ok & late), seconds), seconds), "green"),
            Series("refused", _if_any(per_second(inside(records.where(records.refused), seconds), seconds)), "orange"),
            Series("failed", _if_any(per_second(inside(records.where(records.failed), seconds), seconds)), "red"),
        ),
    )
    return _framed(chart, result)


def by_percentile(result: Result) -> Chart:
    """The whole distribution, with the tail drawn out: the axis is -log10(1 - percentile)."""
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
        limit=(result.scenario.slo_ms, f"service level {result.scenario.slo_ms:g} ms"),
        log_y=True,
        x_ticks=ticks,
    )


def stages(result: Result) -> Bars:
    """Means, which add up; quantiles of stages do not."""
    phases = [phase for phase in result.summary.phases if phase.latency_ms]

    def mean(phase: Figures, stage: str) -> float:
        return phase.stages_ms[stage].get("mean", 0.0)

    parts = [(stage, STAGE_COLOURS[stage], tuple(mean(p, stage) for p in phases)) for stage in STAGE_COLOURS]
    inner = [sum(mean(phase, stage) for stage in STAGE_COLOURS) for phase in phases]
    whole = [max(mean(phase, "total"), known) for phase, known in zip(phases, inner, strict=True)]
    parts.append(("rest of the service", "navy", tuple(w - i for w, i in zip(whole, inner, strict=True))))
    outside = (max(p.latency_ms["mean"] - w, 0.0) for p, w in zip(phases, whole, strict=True))
    parts.append(("before and around (network, accepting)", "orange", tuple(outside)))
    return Bars(
        "stages",
        "Where the time goes",
        "Mean milliseconds of a good answer in each stage, by phase, as the service's own timing says.",
        "milliseconds (mean)",
        tuple(phase.name for phase in phases),
        tuple(parts),
    )


def refusals(result: Result) -> Chart:
    found = by_reason(result.records, result.scenario.seconds)
    lines = (Series(name, points, colour) for (name, points), colour in zip(found.items(), REASONS, strict=False))
    chart = Chart(
        "refusals",
        "Refusals and failures by reason",
        "Per second, stacked, by the time of the answer.",
        SECONDS,
        "requests per second",
        tuple(lines),
        stacked=True,
    )
    return _framed(chart, result)


def _from_the_service(result: Result) -> list[Chart | Bars]:
    """What /metrics and /proc showed."""
    return [
        _gauges(result, "queue", "Queue depth", "Documents that were admitted and wait for the device.", "documents",
                (("waiting documents", "queue_documents", "blue"),)),
        _gauges(result, "backlog", "Backlog",
                "Seconds of work that wait or were lately refused, and the age of the oldest that waits.", "seconds",
                (("backlog", "backlog_seconds", "navy"), ("age of the oldest", "oldest_age_seconds", "teal"))),
        device(result),
        _gauges(result, "memory", "Memory of the processes", "All of them, shared pages once.", "MiB",
                (("processes", "memory_bytes", "blue"),), divisor=MEBIBYTE),
        _gauges(result, "gpu-memory", "Memory of the GPU", "What is in use on the device, by whomever.", "MiB",
                (("GPU", "gpu_memory_bytes", "purple"),), divisor=MEBIBYTE),
        _gauges(result, "files", "Open files", "File descriptors of all the service's processes.", "open files",
                (("open files", "open_files", "teal"),)),
    ]  # fmt: skip


def device(result: Result) -> Chart:
    moments = list(result.moments)
    chart = Chart(
        "device",
        "Device and processor",
        "Share of the time in which a batch ran; GPU utilization where there is one; CPU cores that the service used.",
        SECONDS,
        "busy share, cores",
        (
            Series("engine busy", tuple(rates(moments, "busy_seconds")), "blue"),
            Series("GPU utilization", _gauge(moments, "gpu_utilization"), "purple"),
            Series("CPU cores used", tuple(rates(moments, "cpu_seconds")), "orange"),
        ),
    )
    return _framed(chart, result)


def generator(result: Result) -> Chart:
    records, seconds = result.records, result.scenario.seconds
    chart = Chart(
        "generator",
        "The generator's own lag",
        "How late requests left, sent less intended: what the generator adds to the latencies above.",
        SECONDS,
        "lag, ms",
        tuple(
            Series(name, quantile_over_time(records.intended, records.lag_ms, seconds, quantile), colour)
            for name, quantile, colour in QUANTILES[::2]
        ),
    )
    return _framed(chart, result)


def _gauges(
    result: Result,
    key: str,
    title: str,
    caption: str,
    y_label: str,
    names: tuple[tuple[str, str, str], ...],
    divisor: float = 1.0,
) -> Chart:
    lines = tuple(Series(name, _gauge(list(result.moments), value, divisor), colour) for name, value, colour in names)
    return _framed(Chart(key, title, caption, SECONDS, y_label, lines), result)


def _gauge(moments: list[MetricsSample], name: str, divisor: float = 1.0) -> Points:
    seen = [moment for moment in moments if name in moment.values and moment.at >= 0]
    return tuple((moment.at, moment.values[name] / divisor) for moment in seen)


def _if_any(points: Points) -> Points:
    return points if any(y > 0 for _, y in points) else ()


def _framed(chart: Chart, result: Result) -> Chart:
    """With phases and events, as a plot over time has them."""
    names = (phase.name for phase in result.scenario.phases)
    bands = tuple(Band(a, b, name) for (a, b), name in zip(pairwise(result.scenario.starts), names, strict=True))
    return replace(chart, bands=bands, events=tuple(result.summary.events))
