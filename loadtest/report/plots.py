"""Charts of a report: points over time computed from the records and the metrics samples of a run. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from loadtest.generator.records import STAGES, Records
from loadtest.generator.sampler import MetricsSample, rates
from loadtest.report.chart import Band, Bars, Chart, Points, Series
from loadtest.results.summary import Figures, Result, by_rate

MAX_BINS = 120


def bin_seconds(seconds: float) -> float:
    """The length of a bin: a round time of which a run has at most `MAX_BINS`."""
    return next(each for each in (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600) if seconds / each <= MAX_BINS)


def per_second(times: npt.NDArray[np.float64], seconds: float) -> Points:
    """The number of times per second in each bin of a run, including empty bins."""
    width = bin_seconds(seconds)
    bins = max(int(np.ceil(seconds / width)), 1)
    counts = (
        np.bincount(np.clip((times / width).astype(np.int64), 0, bins - 1), minlength=bins)
        if len(times)
        else [0] * bins
    )
    last = seconds - (bins - 1) * width
    lengths = [width] * (bins - 1) + [last if last > width / 4 else width]
    return tuple(
        ((n + 0.5) * width, float(c) / length) for n, (c, length) in enumerate(zip(counts, lengths, strict=True))
    )


def inside(records: Records, seconds: float) -> npt.NDArray[np.float64]:
    """The times of the answers that came before the end of the schedule."""
    return records.done[records.done < seconds]


def quantile_over_time(
    times: npt.NDArray[np.float64], values: npt.NDArray[np.float64], seconds: float, quantile: float
) -> Points:
    """A quantile of the values in each bin; empty bins have no point."""
    width = bin_seconds(seconds)
    number = (times / width).astype(np.int64)
    return tuple(
        ((int(each) + 0.5) * width, float(np.quantile(values[number == each], quantile))) for each in np.unique(number)
    )


def by_reason(records: Records, seconds: float) -> dict[str, Points]:
    """Refusals and failures per second by code, most frequent first."""
    bad = records.where(~records.ok)
    names = [name for name, _ in Counter(bad.outcome.tolist()).most_common(7)]
    return {name: per_second(bad.done[bad.outcome == name], seconds) for name in names}


def unless_zero(points: Points) -> Points:
    return points if any(y > 0 for _, y in points) else ()


SECONDS = "seconds since the start"
MEBIBYTE = 2.0**20


BEFORE_DEVICE = (
    ("queue", "Queue depth", "Admitted documents that wait for the device.", "documents",
     (("queued documents", "queue_documents", "blue"),)),
    ("backlog", "Backlog", "Seconds of queued or recently refused work, and the age of the oldest queued document.",
     "seconds", (("backlog", "backlog_seconds", "navy"), ("age of the oldest", "oldest_age_seconds", "teal"))),
)  # fmt: skip
AFTER_DEVICE = (
    ("memory", "Memory of the processes", "All processes together, shared pages once.", "MiB",
     (("processes", "memory_bytes", "blue"),)),
    ("gpu-memory", "Memory of the GPU", "Used on the device by all processes.", "MiB",
     (("GPU", "gpu_memory_bytes", "purple"),)),
    ("files", "Open files", "File descriptors of all the service's processes.", "open files",
     (("open files", "open_files", "teal"),)),
)  # fmt: skip
"""Charts of gauges: key, title, caption, y label, and the lines: name, sampled value, colour."""


def service_plots(result: Result) -> list[Chart]:
    """All charts of the samples, in reading order."""

    def gauge_chart(key: str, title: str, caption: str, y_label: str, lines: tuple[tuple[str, str, str], ...]) -> Chart:
        divisor = MEBIBYTE if y_label == "MiB" else 1.0
        series = (Series(name, gauge(result.samples, value, divisor), colour) for name, value, colour in lines)
        return Chart(key, title, caption, SECONDS, y_label, tuple(series))

    before, after = ([gauge_chart(*each) for each in charts] for charts in (BEFORE_DEVICE, AFTER_DEVICE))
    return [*before, device(result.samples), *after]


def device(samples: Sequence[MetricsSample]) -> Chart:
    return Chart(
        "device", "Device and processor",
        "Share of the time in which a batch ran; GPU utilization where there is one; CPU cores that the service used.",
        SECONDS, "busy share, cores",
        (
            Series("engine busy", tuple(rates(list(samples), "busy_seconds")), "blue"),
            Series("GPU utilization", gauge(samples, "gpu_utilization"), "purple"),
            Series("CPU cores used", tuple(rates(list(samples), "cpu_seconds")), "orange"),
        ),
    )  # fmt: skip


def gauge(samples: Sequence[MetricsSample], name: str, divisor: float = 1.0) -> Points:
    """A sampled value over time, from the start of the run on."""
    known = [sample for sample in samples if name in sample.values and sample.at >= 0]
    return tuple((sample.at, sample.values[name] / divisor) for sample in known)


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
        "latency-by-rate", "Latency against offered rate",
        "Good answers of each phase, from the intended time of the request. Where p99 turns up is the knee.",
        "offered requests per second", "latency, ms (log)",
        tuple(lines),
        limit=_service_level(result),
        log_y=True,
    )  # fmt: skip


def throughput_by_rate(phases: list[Figures]) -> Chart:
    top = max(phase.offered_rps for phase in phases)
    return Chart(
        "throughput-by-rate", "Throughput and goodput against offered rate",
        "Answers that came in each phase; goodput counts those within the service level. Dashed: all that was offered.",
        "offered requests per second", "answers per second",
        (
            Series("offered", ((0.0, 0.0), (top, top)), "grey", dashed=True),
            Series("throughput", tuple((p.offered_rps, p.throughput_rps) for p in phases), "blue", broad=True),
            Series("goodput", tuple((p.offered_rps, p.goodput_rps) for p in phases), "green", dots=True),
            Series("refused", tuple((p.offered_rps, p.refused / p.seconds) for p in phases), "orange", dots=True),
        ),
    )  # fmt: skip


def latency_over_time(result: Result) -> Chart:
    good = result.records.where(result.records.ok)
    seconds = result.scenario.seconds
    return Chart(
        "latency", "Latency over time",
        "Good answers by the time at which they were due.",
        SECONDS, "latency, ms (log)",
        tuple(
            Series(name, quantile_over_time(good.intended, good.latency_ms, seconds, quantile), colour)
            for name, quantile, colour in QUANTILES
        ),
        limit=_service_level(result),
        log_y=True,
    )  # fmt: skip


def flow(result: Result) -> Chart:
    records, seconds = result.records, result.scenario.seconds
    in_time = records.latency_ms <= result.scenario.slo_ms
    answered, good = records.where(records.ok), records.where(records.ok & in_time)
    refused, failed = records.where(records.refused), records.where(records.failed)
    return Chart(
        "flow", "Offered, answered, refused",
        "Requests per second: offered by the time at which they were due, the others by the time of their answer.",
        SECONDS, "requests per second",
        (
            Series("offered", per_second(records.intended, seconds), "grey", dashed=True),
            Series("answered", per_second(inside(answered, seconds), seconds), "blue", broad=True),
            Series("goodput", per_second(inside(good, seconds), seconds), "green"),
            Series("refused", unless_zero(per_second(inside(refused, seconds), seconds)), "orange"),
            Series("failed", unless_zero(per_second(inside(failed, seconds), seconds)), "red"),
        ),
    )  # fmt: skip


def by_percentile(result: Result) -> Chart:
    """The whole distribution, with its tail stretched: the axis is -log10(1 - percentile)."""
    good = result.records.latency_ms[result.records.ok]
    deepest = np.log10(max(len(good), 10))
    places = np.linspace(0, deepest, 160)
    points = tuple((float(p), float(np.quantile(good, 1 - 10.0**-p))) for p in places) if len(good) else ()
    ticks = tuple((-float(np.log10(1 - each)), f"{each * 100:g} %") for each in NINES if -np.log10(1 - each) <= deepest)
    return Chart(
        "percentiles", "Latency by percentile",
        "All good answers of the run; each step to the right is the worst tenth of what is left.",
        "share of the answers that were faster", "latency, ms (log)",
        (Series("latency", points, "navy"),),
        limit=_service_level(result),
        log_y=True,
        x_ticks=ticks,
    )  # fmt: skip


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
        "stages", "Where the time goes",
        "Mean milliseconds of a good answer in each stage, by phase, from the service's own timing.",
        "milliseconds (mean)",
        tuple(phase.name for phase in phases),
        tuple(parts),
    )  # fmt: skip


def refusals(result: Result) -> Chart:
    found = by_reason(result.records, result.scenario.seconds)
    lines = (
        Series(name, points, colour) for (name, points), colour in zip(found.items(), REASON_COLOURS, strict=False)
    )
    return Chart(
        "refusals", "Refusals and failures by reason",
        "Per second, stacked, by the time of the answer.",
        SECONDS, "requests per second",
        tuple(lines),
        stacked=True,
    )  # fmt: skip


def generator(result: Result) -> Chart:
    records, seconds = result.records, result.scenario.seconds
    return Chart(
        "generator", "The generator's own lag",
        "How late requests left, sent less intended: the generator's part of the latencies above.",
        SECONDS, "lag, ms",
        tuple(
            Series(name, quantile_over_time(records.intended, records.lag_ms, seconds, quantile), colour)
            for name, quantile, colour in QUANTILES[::2]
        ),
    )  # fmt: skip


def _service_level(result: Result) -> tuple[float, str]:
    return result.scenario.slo_ms, f"service level {result.scenario.slo_ms:g} ms"


def _with_phases(chart: Chart, result: Result) -> Chart:
    """A chart over time with the phases and events of the run."""
    names = (phase.name for phase in result.scenario.phases)
    bands = tuple(Band(a, b, name) for (a, b), name in zip(pairwise(result.scenario.starts), names, strict=True))
    return replace(chart, bands=bands, events=tuple(result.summary.events))
