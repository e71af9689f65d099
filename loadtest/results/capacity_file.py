"""The file capacity.json: the measured capacity of one instance, which the scaling policy reads. Pure.

Flat figures first; times in seconds, the service level in milliseconds. `knee` has the trials, `recommended` the
settings of the service and targets of the scaling policy that follow, each with its reason.

The latency of a batch, S(tokens) = base + tokens × seconds per token, has two sources. Metrics: between two samples the
device was busy for base × batches + seconds per token × tokens, which covers real batches. Answers: `compute_ms` of
documents that were sent one at a time, each alone in its batch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import msgspec
import numpy as np

from infra.scaling import capacity as scaling
from infra.scaling.policy import targets_for
from loadtest.generator.records import Floats
from loadtest.generator.sampler import MetricsSample
from loadtest.results.knee import Knee, Trial
from service.core.scheduling.throughput import fit_line

FORMAT = 1
MIN_ROWS = 8
"""Samples or answers without which there is no fit."""
NAMES = ("busy_seconds", "batches", "tokens")


@dataclass(frozen=True, slots=True)
class BatchLatencyFit:
    """The fit, its source, and its typical error: the median of |seconds - fit| / seconds."""

    base_seconds: float
    seconds_per_token: float
    source: str
    typical_error: float


def from_metrics(samples: list[MetricsSample]) -> BatchLatencyFit | None:
    """The fit to the increases of three counters; None where too few are known."""
    known = [[sample.values[name] for name in NAMES] for sample in samples if all(n in sample.values for n in NAMES)]
    if len(known) < MIN_ROWS:
        return None
    grown = np.diff(np.array(known), axis=0)
    grown = grown[(grown[:, 1] > 0) & (grown >= 0).all(axis=1)]
    return _fit(grown[:, 1], grown[:, 2], grown[:, 0], "metrics") if len(grown) >= MIN_ROWS else None


def from_answers(tokens: Floats, seconds: Floats) -> BatchLatencyFit | None:
    """The fit to documents that ran alone; None where too few compute times are known."""
    known = ~np.isnan(seconds) & (tokens > 0)
    if known.sum() < MIN_ROWS:
        return None
    return _fit(np.ones(known.sum()), tokens[known], seconds[known], "answers")


def _fit(batches: Floats, tokens: Floats, seconds: Floats, source: str) -> BatchLatencyFit:
    base, each = fit_line(list(zip(batches.tolist(), tokens.tolist(), seconds.tolist(), strict=True)))
    residuals = np.abs(seconds - base * batches - each * tokens)
    return BatchLatencyFit(base, each, source, float(np.median(residuals / np.maximum(seconds, 1e-9))))


class Advice(msgspec.Struct, frozen=True):
    """A recommended value of a setting or target, with its reason."""

    name: str
    value: float
    reason: str


class MeasuredCapacity(msgspec.Struct, frozen=True):
    """The capacity of one instance.

    Attributes:
        documents_per_second: highest rate whose 99th percentile held `slo_ms`.
        tokens_per_second: tokens at that rate.
        slo_ms: the service level.
        p50_ms, p99_ms: latency at that rate.
        saturated_documents_per_second, saturated_tokens_per_second: at full load, without regard to latency.
        tokens_per_document: mean of the documents that were sent.
        service_time: seconds of a batch = base_seconds + seconds_per_token × tokens; null without enough samples.
        start_seconds: from the start of the process to ready; null for a service at a URL.
    """

    format: int
    documents_per_second: float
    tokens_per_second: float
    slo_ms: float
    p50_ms: float
    p99_ms: float
    saturated_documents_per_second: float
    saturated_tokens_per_second: float
    tokens_per_document: float
    service_time: BatchLatencyFit | None
    start_seconds: float | None
    recommended: tuple[Advice, ...]
    knee: tuple[Trial, ...]
    measured: dict[str, str]


def describe(
    knee: Knee,
    *,
    slo_ms: float,
    saturated: float,
    tokens_per_document: float,
    service_time: BatchLatencyFit | None,
    start_seconds: float | None,
    measured: dict[str, str],
) -> MeasuredCapacity:
    """The capacity of a service with this knee."""
    best = max((trial for trial in knee.trials if trial.rate == knee.holds), key=lambda t: t.requests, default=None)
    tokens = knee.holds * tokens_per_document
    return MeasuredCapacity(
        format=FORMAT,
        documents_per_second=knee.holds,
        tokens_per_second=tokens,
        slo_ms=slo_ms,
        p50_ms=best.p50_ms if best else math.nan,
        p99_ms=best.p99_ms if best else math.nan,
        saturated_documents_per_second=saturated,
        saturated_tokens_per_second=saturated * tokens_per_document,
        tokens_per_document=tokens_per_document,
        service_time=service_time,
        start_seconds=start_seconds,
        recommended=advise(knee.holds, saturated, tokens_per_document, slo_ms),
        knee=knee.trials,
        measured=measured,
    )


def advise(holds: float, saturated: float, tokens_per_document: float, slo_ms: float) -> tuple[Advice, ...]:
    """Recommended settings, and the targets that the scaling policy computes from this file."""
    if not holds:
        return ()
    full = max(saturated, holds)
    queue = max(full * tokens_per_document * slo_ms / 1000, tokens_per_document)
    queue_reason = f"what the device does in {slo_ms:g} ms: a longer queue only makes answers late"
    wait_reason = "the service level: what would wait for longer is refused at once, with a time to retry"
    return (
        Advice("GLEANER_QUEUE_LIMIT_TOKENS", math.ceil(queue), queue_reason),
        Advice("GLEANER_MAX_QUEUE_MS", math.ceil(slo_ms), wait_reason),
        *_scaling_targets(holds, full, tokens_per_document, slo_ms),
    )


def _scaling_targets(holds: float, full: float, tokens_per_document: float, slo_ms: float) -> tuple[Advice, ...]:
    capacity = scaling.Capacity(
        documents_per_second=holds,
        tokens_per_second=holds * tokens_per_document,
        slo_ms=slo_ms,
        saturated_documents_per_second=full,
    )
    targets = targets_for(capacity)
    share = f"a task's share of the rate at full load; the service level is missed above {holds / full:.2f}"
    rate = "the same share as a rate: the fleet's size is the offered documents per second over this"
    backlog = "queued or recently refused work on every task; less is done before a new task could help"
    return (
        Advice("scaling.work_ratio", targets.work_ratio, share),
        Advice("scaling.documents_per_second_each", round(targets.work_ratio * full, 3), rate),
        Advice("scaling.backlog_seconds", targets.backlog_seconds, backlog),
        Advice("scaling.queue_depth", targets.queue_depth, "documents queued on every task, for as long"),
    )
