"""Points computed from two snapshots of the metrics."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import Metric

from service.metrics.bulk import BulkMetrics
from service.metrics.engine import EngineMetrics, GpuMetrics
from service.metrics.worker import WorkerMetrics
from service.signals import catalog, points
from service.signals.catalog import Kind, Signal
from service.signals.points import Point, Series, Snapshot, measure
from tests.support.metric_values import collected

IDLE = Snapshot(0.0, 1000.0, {})
MOST_VALUES = 150
"""Values of one metric that CloudWatch takes at a time."""


def snapshot(at: float, *series: tuple[str, float, dict[str, str]]) -> Snapshot:
    """The metrics of a ready task, this many seconds after the start."""
    found = (("gleaner_phase", 1.0, {"phase": "ready"}), *series)
    values: dict[Series, float] = {(name, tuple(sorted(labels.items()))): value for name, value, labels in found}
    return Snapshot(at, 1000.0 + at, values)


def published(before: Snapshot, after: Snapshot) -> dict[Signal, Point]:
    return {point.signal: point for point in measure(before, after)}


def value(before: Snapshot, after: Snapshot, signal: Signal) -> float:
    (only,) = published(before, after)[signal].values
    return only


def test_an_idle_task_publishes_zeros_but_no_device_and_no_distribution() -> None:
    round_ = published(IDLE, snapshot(10.0))
    always = {signal for signal in catalog.SIGNALS if signal.kind in (Kind.LEVEL, Kind.COUNT, Kind.FLAG)}
    assert set(round_) == always
    assert all((point.values, point.counts) == ((0.0,), (1.0,)) for point in round_.values())
    assert {point.unix_seconds for point in round_.values()} == {1010.0}


@pytest.mark.parametrize("phase", ["loading", "warming", "draining"])
def test_a_task_that_is_not_ready_publishes_no_levels(phase: str) -> None:
    ready, other = {"phase": "ready"}, {"phase": phase}
    starting = snapshot(
        10.0, ("gleaner_phase", 0.0, ready), ("gleaner_phase", 1.0, other), ("gleaner_gpu_lost", 1.0, {})
    )
    counts = {signal.name for signal in catalog.SIGNALS if signal.kind is Kind.COUNT}
    assert {signal.name for signal in published(IDLE, starting)} == {"GpuLost", *counts}


@pytest.mark.parametrize(("signal", "name"), [*points.LEVELS.items()], ids=[signal.name for signal in points.LEVELS])
def test_a_level_is_the_later_snapshots_value(signal: Signal, name: str) -> None:
    assert value(snapshot(0.0, (name, 9.0, {})), snapshot(10.0, (name, 2.5, {})), signal) == 2.5


def test_the_stages_are_named_and_each_has_its_own_ratio() -> None:
    name = "gleaner_stage_work_ratio"
    ratios = {"compute": 0.026, "tokenize": 0.4, "parse": 3.0}
    after = snapshot(10.0, *((name, ratio, {"stage": stage}) for stage, ratio in ratios.items()))
    assert {stage: value(IDLE, after, signal) for stage, signal in catalog.STAGES.items()} == ratios


def test_nan_is_published_as_zero() -> None:
    """CloudWatch refuses a whole call over one NaN."""
    assert value(IDLE, snapshot(10.0, ("gleaner_backlog_seconds", math.nan, {})), catalog.BACKLOG_SECONDS) == 0.0


@pytest.mark.parametrize(
    ("ratios", "bulk", "published"),
    [
        ((0.3, 0.9, 0.1), (0.0, 0.0, 0.0), 0.9),
        ((0.3, 0.9, 0.1), (0.0, 0.7, 0.1), 0.3),
        ((1.0, 0.2, 0.0), (1.1, 0.3, 0.0), 0.0),
    ],
)
def test_the_work_ratio_is_the_busiest_stages_without_what_bulk_asks_for(
    ratios: tuple[float, ...], bulk: tuple[float, ...], published: float
) -> None:
    series = [
        (name, value, {"stage": stage})
        for name, values in ((points.STAGE_NAME, ratios), (points.BULK_STAGE_NAME, bulk))
        for stage, value in zip(catalog.STAGES, values, strict=True)
    ]
    after = snapshot(10.0, *series)
    assert value(IDLE, after, catalog.WORK_RATIO) == pytest.approx(published)
    assert tuple(value(IDLE, after, signal) for signal in catalog.STAGES.values()) == ratios


def test_only_refusals_for_lack_of_capacity_are_counted() -> None:
    name = "gleaner_refusals_total"
    before = snapshot(0.0, (name, 5.0, {"code": "queue_full"}), (name, 1.0, {"code": "not_ready"}))
    after = snapshot(
        10.0,
        (name, 7.0, {"code": "queue_full"}),
        (name, 1.0, {"code": "deadline_exceeded"}),
        (name, 9.0, {"code": "not_ready"}),
    )
    assert value(before, after, catalog.REFUSALS) == 3.0


def test_requests_for_work_are_counted_and_those_that_the_service_failed() -> None:
    name, errors = "gleaner_requests_total", "gleaner_server_errors_total"
    before = snapshot(0.0, (name, 5.0, {"route": "/extract", "status": "200"}), (errors, 1.0, {"code": "model_error"}))
    after = snapshot(
        10.0,
        (name, 7.0, {"route": "/extract", "status": "200"}),
        (name, 3.0, {"route": "/redact", "status": "500"}),
        (name, 4.0, {"route": "oip", "status": "429"}),
        *((name, 90.0, {"route": route, "status": "200"}) for route in ("/livez", "/readyz", "other")),
        (errors, 2.0, {"code": "model_error"}),
        (errors, 2.0, {"code": "internal_error"}),
    )
    assert value(before, after, catalog.REQUESTS) == 9.0
    assert value(before, after, catalog.SERVER_ERRORS) == 3.0


@pytest.mark.parametrize(("starts", "restarts"), [((0, 0, 1), (0, 0)), ((0, 1, 2), (0, 1)), ((1, 1, 3), (0, 2))])
def test_the_first_start_of_an_engine_is_no_restart(starts: tuple[int, ...], restarts: tuple[int, ...]) -> None:
    snapshots = [
        snapshot(float(at), ("gleaner_engine_starts_total", float(count), {})) for at, count in enumerate(starts)
    ]
    assert tuple(value(*pair, catalog.RESTARTS) for pair in pairwise(snapshots)) == restarts


def test_a_counter_that_fell_is_published_as_zero() -> None:
    name = "gleaner_memory_splits_total"
    assert value(snapshot(0.0, (name, 5.0, {})), snapshot(10.0, (name, 3.0, {})), catalog.MEMORY_SPLITS) == 0.0


@pytest.mark.parametrize(("busy", "ratio"), [(0.0, 0.0), (4.0, 0.4), (12.0, 1.0)])
def test_busy_is_a_share_of_the_time_between_the_snapshots(busy: float, ratio: float) -> None:
    name = "gleaner_busy_seconds_total"
    assert (
        value(snapshot(5.0, (name, 100.0, {})), snapshot(15.0, (name, 100.0 + busy, {})), catalog.BUSY_RATIO) == ratio
    )


def test_snapshots_of_the_same_moment_do_not_divide_by_zero() -> None:
    assert value(snapshot(5.0), snapshot(5.0, ("gleaner_busy_seconds_total", 1.0, {})), catalog.BUSY_RATIO) == 0.0


def buckets(*reached: float) -> list[tuple[str, float, dict[str, str]]]:
    name = points.BUCKETS_NAME
    bounds = ("0.5", "5.0", "10.0", "+Inf")
    work = [(name, count, {"route": "/extract", "le": le}) for le, count in zip(bounds, reached, strict=True)]
    return [*work, *((name, 1000.0, {"route": "/livez", "le": le}) for le in bounds)]


def test_requests_are_spread_evenly_over_their_buckets() -> None:
    round_ = published(snapshot(0.0, *buckets(1, 1, 1, 1)), snapshot(10.0, *buckets(2, 4, 20, 27)))
    many = {5 + 5 * (part + 0.5) / 8: 2.0 for part in range(8)}
    assert dict(zip(*_shape(round_), strict=True)) == {0.25: 1.0, 1.625: 1.0, 3.875: 1.0, **many, 10.0: 7.0}


def test_a_distribution_has_no_more_values_than_cloudwatch_takes() -> None:
    bounds = [sample.labels["le"] for sample in _observed().samples if sample.name.endswith("_bucket")]
    full = [(points.BUCKETS_NAME, 9.0 * n, {"route": "/extract", "le": le}) for n, le in enumerate(bounds, start=1)]
    assert len(_shape(published(IDLE, snapshot(10.0, *full)))[0]) <= MOST_VALUES


@given(st.lists(st.floats(0.0, 9.99), min_size=100, max_size=300), st.sampled_from([0.5, 5.0]))
def test_a_bound_is_passed_by_the_share_of_requests_that_pass_it(seconds: list[float], bound: float) -> None:
    reached = [float(sum(each <= float(le) for each in seconds)) for le in ("0.5", "5.0", "10.0", "inf")]
    values, counts = _shape(published(IDLE, snapshot(10.0, *buckets(*reached))))
    above = sum(count for value, count in zip(values, counts, strict=True) if value > bound)
    assert above == pytest.approx(sum(each > bound for each in seconds))


def test_adapters_requests_are_work_and_a_counter_may_begin_anew() -> None:
    name = points.BUCKETS_NAME
    adapters = [(name, count, {"route": route, "le": "+Inf"}) for route, count in (("/redact", 2.0), ("oip", 3.0))]
    fallen = (name, 9.0, {"route": "huggingface", "le": "+Inf"}), (name, 1.0, {"route": "huggingface", "le": "+Inf"})
    round_ = published(
        snapshot(0.0, *buckets(1, 1, 1, 1), fallen[0]), snapshot(10.0, *buckets(2, 2, 2, 2), *adapters, fallen[1])
    )
    counts = dict(zip(*_shape(round_), strict=True))
    assert (sum(counts[value] for value in counts if value <= 0.5), counts[10.0]) == (1.0, 5.0)


def _observed() -> Metric:
    worker = WorkerMetrics()
    worker.request_seconds.labels("/extract").observe(1.0)
    (metric,) = worker.request_seconds.collect()
    return metric


def _shape(round_: dict[Signal, Point]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    point = round_[catalog.REQUEST_SECONDS]
    return point.values, point.counts


def test_without_requests_there_is_no_distribution() -> None:
    assert catalog.REQUEST_SECONDS not in published(
        snapshot(0.0, *buckets(1, 2, 3, 4)), snapshot(10.0, *buckets(1, 2, 3, 4))
    )


def test_a_gpu_is_published_where_there_is_one() -> None:
    after = snapshot(
        10.0,
        (points.UTILIZATION_NAME, 0.73, {"device": "0"}),
        (points.MEMORY_USED_NAME, 6.0e9, {"device": "0"}),
        (points.MEMORY_TOTAL_NAME, 24.0e9, {"device": "0"}),
    )
    assert value(IDLE, after, catalog.GPU_UTILIZATION) == 73.0
    assert value(IDLE, after, catalog.GPU_MEMORY_UTILIZATION) == 25.0


def test_gauges_of_an_absent_gpu_are_not_published() -> None:
    after = snapshot(10.0, *((name, 0.0, {}) for name in (points.UTILIZATION_NAME, points.MEMORY_TOTAL_NAME)))
    assert not {catalog.GPU_UTILIZATION, catalog.GPU_MEMORY_UTILIZATION} & set(published(IDLE, after))


def test_every_metric_that_is_read_is_exported_by_the_service() -> None:
    exported = {sample.name for metric in collected(EngineMetrics()) for sample in metric.samples}
    exported |= {f"{metric.name}_total" for metric in collected(EngineMetrics()) + collected(WorkerMetrics())}
    exported |= {sample.name for metric in (*collected(WorkerMetrics()), _observed()) for sample in metric.samples}
    read = {*points.LEVELS.values(), *points.COUNTS.values()}
    read |= {name for key, name in vars(points).items() if key.endswith("_NAME")}
    assert len(read) > 12
    assert read <= exported | {
        metric.name for each in (EngineMetrics(), GpuMetrics(), BulkMetrics()) for metric in collected(each)
    }


def test_every_signal_is_published() -> None:
    read = {
        *points.LEVELS,
        *points.COUNTS,
        catalog.WORK_RATIO,
        catalog.BUSY_RATIO,
        catalog.GPU_LOST,
        catalog.REQUEST_SECONDS,
    }
    read |= {catalog.REQUEST_SECONDS, catalog.GPU_UTILIZATION, catalog.GPU_MEMORY_UTILIZATION, *catalog.STAGES.values()}
    assert read == set(catalog.SIGNALS)
