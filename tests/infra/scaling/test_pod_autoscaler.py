"""Kubernetes' formula, its tolerance, its window and its rates, as tables of values."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from infra.scaling.alarm_evaluation import Series
from infra.scaling.pod_autoscaler import PodAutoscaler, PodPolicy, pod_policy, pods_wanted
from infra.scaling.policy import policy_for
from infra.scaling.policy_values import Limits
from service.signals.catalog import (
    BACKLOG_SECONDS,
    BULK_TASKS_WANTED,
    GPU_UTILIZATION,
    OLDEST_AGE_SECONDS,
    QUEUE_DEPTH,
    WORK_RATIO,
    Signal,
)

LIMITS = Limits(minimum_tasks=2, maximum_tasks=30)
POLICY = PodPolicy(work_ratio=0.7, backlog_seconds=5.0, quiet_seconds=300, fewer_percent=10, fewer_period_seconds=120)


def run(works: list[float], wanted: int = 2, backlog: float = 0.0, policy: PodPolicy = POLICY) -> list[tuple[int, int]]:
    """(seconds, pods) of each change: every half minute the fleet is asked for one more of the works, in full pods."""
    hpa, series, changes = PodAutoscaler(policy, LIMITS, wanted), Series(), []
    for i, work in enumerate(works, 1):
        for second in (30 * i - 20, 30 * i - 10, 30 * i):
            for _ in range(hpa.wanted):
                series.add(second, {WORK_RATIO: work / hpa.wanted, BACKLOG_SECONDS: backlog})
        if decision := hpa.decide(series, 30 * i, hpa.wanted):
            assert decision.tasks_after == hpa.wanted
            changes.append((30 * i, hpa.wanted))
    return changes


@pytest.mark.parametrize(
    ("total", "pods", "wanted"),
    [(1.4, 2, 2), (1.53, 2, 2), (1.55, 2, 3), (1.26, 2, 2), (1.25, 2, 2), (4.2, 2, 6), (4.21, 2, 7), (0.0, 4, 0),
     (2.8, 5, 4), (3.2, 5, 5), (0.7, 0, 1)],
)  # fmt: skip
def test_pods_are_the_total_over_the_target_rounded_up(total: float, pods: int, wanted: int) -> None:
    assert pods_wanted(total, 0.7, pods) == wanted


def test_the_backlog_wants_pods_of_its_own() -> None:
    assert run([1.4], backlog=12.0) == [(30, 5)]


@pytest.mark.parametrize(
    ("signals", "pods"),
    [
        ({QUEUE_DEPTH: 501.0}, 6),
        ({QUEUE_DEPTH: 500.0}, 4),
        ({GPU_UTILIZATION: 95.0, OLDEST_AGE_SECONDS: 3.0}, 5),
        ({GPU_UTILIZATION: 95.0, OLDEST_AGE_SECONDS: 2.0}, 4),
        ({GPU_UTILIZATION: 94.0, OLDEST_AGE_SECONDS: 3.0}, 4),
    ],
)
def test_a_deep_queue_or_a_saturated_gpu_wants_a_share_more(signals: dict[Signal, float], pods: int) -> None:
    policy = replace(POLICY, queue_depth=500, gpu_percent=95.0, oldest_seconds=2.5)
    hpa, series = PodAutoscaler(policy, LIMITS, 4), Series()
    for second in (10, 20, 30):
        for _ in range(4):
            series.add(second, {WORK_RATIO: 0.7, **signals})
    hpa.decide(series, 30, 4)
    assert hpa.wanted == pods


@pytest.mark.parametrize(("bulk_tasks", "wanted", "pods"), [(12, 9.0, 9), (12, 3.0, 4), (0, 9.0, 4), (None, 9.0, 5)])
def test_a_bulk_deadline_wants_its_pods_in_place_of_the_gpu(bulk_tasks: int | None, wanted: float, pods: int) -> None:
    policy = pod_policy(policy_for(limits=LIMITS, bulk_tasks=bulk_tasks))
    hpa, series = PodAutoscaler(policy, LIMITS, 4), Series()
    busy = {WORK_RATIO: 0.7, GPU_UTILIZATION: 100.0, OLDEST_AGE_SECONDS: 9.0, BULK_TASKS_WANTED: wanted}
    for second in (10, 20, 30):
        for _ in range(4):
            series.add(second, busy)
    hpa.decide(series, 30, 4)
    assert hpa.wanted == pods


def test_growth_is_bounded_by_its_rate_and_the_limits() -> None:
    assert run([20.0, 20.0]) == [(30, 20), (60, 29)]
    assert run([40.0] * 3) == [(30, 20), (60, 30)]


def test_fewer_only_after_the_window_and_then_by_a_tenth_every_two_minutes() -> None:
    changes = run([14.0] + [1.4] * 30, wanted=20)
    assert changes[0] == (330, 18), "300 s after the last look that wanted 20"
    assert [pods for _, pods in changes[1:]] == [16, 14, 12, 10, 9]
    assert {later - sooner for (sooner, _), (later, _) in pairwise(changes)} == {120}


def test_it_looks_once_in_fifteen_seconds() -> None:
    hpa, series = PodAutoscaler(POLICY, LIMITS, 2), Series()
    assert hpa.decide(series, 30, 2) is None
    series.add(40, {WORK_RATIO: 9.0})
    assert hpa.decide(series, 40, 2) is None
    series.add(50, {WORK_RATIO: 9.0})
    assert hpa.decide(series, 50, 2) is not None


def test_a_minimum_may_be_raised() -> None:
    hpa = PodAutoscaler(POLICY, LIMITS, 2)
    assert hpa.set_minimum(4)
    assert not hpa.set_minimum(3)
    assert hpa.wanted == 4
