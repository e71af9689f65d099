"""`capacity.json`: what one instance can do, as the scaling policy and a simulator of the fleet read it.

Flat figures first; times in seconds, the service level in milliseconds. `knee` has the trials, `recommended` what
follows for the service's settings and the scaling policy, each with its reason.
"""

from __future__ import annotations

import math

import msgspec

from infra.scaling import capacity as scaling
from infra.scaling.policy import targets_for
from loadtest.knee.batch_latency_fit import BatchLatencyFit
from loadtest.knee.bisection import Knee, Trial

FORMAT = 1


class Advice(msgspec.Struct, frozen=True):
    """One setting or target, and why."""

    name: str
    value: float
    reason: str


class MeasuredCapacity(msgspec.Struct, frozen=True):
    """One instance, measured.

    Attributes:
        documents_per_second: highest rate whose 99th percentile held `slo_ms`.
        tokens_per_second: the same in tokens.
        slo_ms: that limit.
        p50_ms, p99_ms: latency at that rate.
        saturated_documents_per_second, saturated_tokens_per_second: at full load, whatever the latency.
        tokens_per_document: mean of the documents that were asked about.
        service_time: seconds of a batch = base_seconds + seconds_per_token × tokens; null where it could not be seen.
        start_seconds: from the start of the process to ready; null for a service that was there before.
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
    """The capacity that a knee tells of."""
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
    """Settings, and the targets that the scaling policy computes from this file."""
    if not holds:
        return ()
    full = max(saturated, holds)
    queue = max(full * tokens_per_document * slo_ms / 1000, tokens_per_document)
    targets = targets_for(
        scaling.Capacity(
            documents_per_second=holds,
            tokens_per_second=holds * tokens_per_document,
            slo_ms=slo_ms,
            saturated_documents_per_second=full,
        )
    )
    return (
        Advice(
            "GLEANER_QUEUE_LIMIT_TOKENS",
            math.ceil(queue),
            f"what the device does in {slo_ms:g} ms: more that waits only makes late answers",
        ),
        Advice(
            "GLEANER_DEADLINE_MS",
            math.ceil(slo_ms),
            "the service level: what could not keep it is refused at once, and told when to come back",
        ),
        Advice(
            "scaling.work_ratio",
            targets.work_ratio,
            f"what a task should carry of the rate at full load; the limit is missed above {holds / full:.2f}",
        ),
        Advice(
            "scaling.documents_per_second_each",
            round(targets.work_ratio * full, 3),
            "the same as a rate: offered documents per second over this is the fleet's size",
        ),
        Advice(
            "scaling.backlog_seconds",
            targets.backlog_seconds,
            "work that waits, or was lately refused, on every task; less is gone before a new task could help",
        ),
        Advice("scaling.queue_depth", targets.queue_depth, "documents that wait on every task for as long"),
    )
