"""The wanted number of tasks over time, under the real policy and made-up series."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.scaling.alarm_values import Alarm, Comparison, Condition, Statistic
from infra.scaling.limits import Delays, Limits
from infra.scaling.policy import Policy, policy_for
from infra.scaling.policy_values import Step, StepScaling
from loadtest.simulator.alarm_evaluation import Series
from loadtest.simulator.autoscaler import Autoscaler, Decision
from service.signals import catalog
from service.signals.catalog import Signal

POLICY = policy_for(limits=Limits(minimum_tasks=2, maximum_tasks=12))
CALM = {
    catalog.WORK_RATIO: 0.5,
    catalog.BACKLOG_SECONDS: 0.0,
    catalog.OLDEST_AGE_SECONDS: 0.0,
    catalog.QUEUE_DEPTH: 0.0,
    catalog.GPU_UTILIZATION: 70.0,
}
Load = Callable[[float, int], Mapping[Signal, float]]


def run(
    seconds: int, load: Load, tasks: int = 2, start_seconds: float = 60.0, policy: Policy = POLICY
) -> tuple[Autoscaler, list[Decision]]:
    """Every 10 s each running task publishes; added tasks run after a start, removed ones leave at once."""
    fleet, series, decisions = Autoscaler(policy, tasks), Series(), list[Decision]()
    running = tasks
    for now in range(10, seconds + 1, 10):
        began = [each for each in decisions if each.at_seconds <= now - start_seconds]
        running = max(min(fleet.wanted, max([tasks, *(each.tasks_after for each in began)])), 1)
        for _ in range(running):
            series.add(now - 1, {**CALM, **load(now, running)})
        if decision := fleet.decide(series, now, running):
            decisions.append(decision)
    return fleet, decisions


def test_steady_load_changes_nothing() -> None:
    assert run(3600, lambda now, tasks: {})[1] == []


def test_a_five_fold_step_is_decided_in_20_seconds_and_answered_once() -> None:
    fleet, decisions = run(1200, lambda now, tasks: {catalog.WORK_RATIO: (5.0 if now > 60 else 1.0) / tasks})
    assert decisions[0].by == "work-ratio-high"
    assert decisions[0].at_seconds == 80
    assert decisions[0].tasks_after >= 8, "5 / 0.7 tasks are needed"
    assert len(decisions) == 1, "what was asked for is not asked for again while it starts"
    assert fleet.wanted <= 9


def test_a_queue_that_work_does_not_explain_adds_tasks() -> None:
    depth = POLICY.targets.queue_depth
    _, decisions = run(100, lambda now, tasks: {catalog.QUEUE_DEPTH: 2 * depth})
    assert [(each.by, each.tasks_before, each.tasks_after) for each in decisions] == [("queue-depth-high", 2, 3)]


def test_a_saturated_gpu_adds_tasks_only_while_documents_wait() -> None:
    busy: dict[Signal, float] = {catalog.GPU_UTILIZATION: 100.0}
    assert run(600, lambda now, tasks: busy)[1] == []
    _, decisions = run(70, lambda now, tasks: {**busy, catalog.OLDEST_AGE_SECONDS: 4.0})
    assert [(each.by, each.at_seconds) for each in decisions] == [("gpu-saturated", 60)]


def test_a_saturated_gpu_forbids_scaling_in() -> None:
    idle: dict[Signal, float] = {catalog.WORK_RATIO: 0.1}
    assert run(900, lambda now, tasks: {**idle, catalog.GPU_UTILIZATION: 99.0}, tasks=6)[1] == []
    assert run(900, lambda now, tasks: idle, tasks=6)[1][0].tasks_after == 5


def test_missing_metrics_scale_nothing() -> None:
    fleet = Autoscaler(POLICY, 6)
    assert all(fleet.decide(Series(), now, 6) is None for now in range(10, 4000, 10))


def test_idle_fleets_shrink_to_the_minimum_and_stay_there() -> None:
    fleet, decisions = run(7200, lambda now, tasks: {catalog.WORK_RATIO: 0.02}, tasks=8)
    assert [each.tasks_after for each in decisions] == [7, 6, 5, 4, 3, 2]
    assert decisions[0].at_seconds == 300
    assert fleet.wanted == 2


def test_target_tracking_takes_what_the_steps_leave() -> None:
    _, decisions = run(400, lambda now, tasks: {catalog.WORK_RATIO: 0.8})
    assert decisions[0].by == "target-tracking"
    assert decisions[0].at_seconds == 180


def test_target_tracking_does_not_ask_again_for_tasks_that_start() -> None:
    """With starts that take longer than its three minutes, over the tasks that are there it would see 2.5 again."""
    cold = policy_for(limits=POLICY.limits, delays=Delays(start_seconds=260.0))
    step: Load = lambda now, tasks: {catalog.WORK_RATIO: (5.0 if now > 60 else 1.0) / tasks}  # noqa: E731
    fleet, decisions = run(600, step, start_seconds=260.0, policy=cold)
    assert {each.by for each in decisions} == {"work-ratio-high"}
    assert fleet.wanted <= 9


@pytest.mark.parametrize(("tasks", "most"), [(4, 24), (15, 90)])
@pytest.mark.parametrize("start_seconds", [60.0, 260.0, 600.0])
def test_a_start_longer_than_the_cooldown_does_not_run_away(tasks: int, most: int, start_seconds: float) -> None:
    """AWS counts from what runs. From what is wanted, 4 tasks became 214 and 15 became 400, where 20 and 75 do."""
    hasty = policy_for(limits=Limits(minimum_tasks=2, maximum_tasks=400), delays=Delays(start_seconds=60.0))
    assert hasty.scale_out[0].cooldown_seconds == 90
    load: Load = lambda now, running: {catalog.WORK_RATIO: 0.7 * tasks * (5.0 if now > 60 else 1.0) / running}  # noqa: E731
    fleet, _ = run(1800, load, tasks=tasks, start_seconds=start_seconds, policy=hasty)
    assert 5 * tasks <= fleet.wanted <= most


def test_a_larger_shortage_is_answered_while_the_first_tasks_still_start() -> None:
    def load(now: float, tasks: int) -> Mapping[Signal, float]:
        return {catalog.WORK_RATIO: (9.0 if now > 120 else 3.0) / tasks}

    _, decisions = run(200, load, start_seconds=300.0)
    assert [each.tasks_before for each in decisions] == sorted(each.tasks_before for each in decisions)
    assert decisions[0].tasks_after < decisions[-1].tasks_after == 12


def made(steps: tuple[Step, ...], at_least: int = 1) -> StepScaling:
    condition = Condition(catalog.WORK_RATIO, Statistic.AVERAGE, Comparison.ABOVE, 50.0)
    sounding = Alarm(name="high", conditions=(condition,), periods=1, meaning="", remedy="")
    return StepScaling(alarm=sounding, steps=steps, at_least=at_least, cooldown_seconds=60)


OUT = (Step(0.0, 10.0, 10), Step(10.0, 20.0, 25), Step(20.0, None, 30))
IN = (Step(None, -20.0, -30), Step(-20.0, -10.0, -15), Step(-10.0, 0.0, -10))


@pytest.mark.parametrize(
    ("steps", "value", "tasks", "change"),
    [
        (OUT, 50.0, 10, 1),
        (OUT, 59.99, 10, 1),
        (OUT, 60.0, 10, 2),
        (OUT, 70.0, 10, 3),
        (OUT, 9e9, 10, 3),
        (OUT, 49.99, 10, 0),
        (IN, 50.0, 20, 0),
        (IN, 40.0, 20, -2),
        (IN, 39.9, 20, -3),
        (IN, 0.0, 20, -6),
        ((Step(0.0, None, 127),), 51.0, 10, 12),
        ((Step(0.0, None, 67),), 51.0, 1, 1),
        ((Step(None, 0.0, -58),), 49.0, 1, -1),
        ((Step(None, 0.0, -67),), 49.0, 10, -6),
    ],
)
def test_bounds_and_rounding_of_steps_are_those_of_aws(
    steps: tuple[Step, ...], value: float, tasks: int, change: int
) -> None:
    """A lower bound belongs to its step, an upper one to the next. Of a change in per cent, 12.7 → 12, 0.67 → 1,
    -0.58 → -1, -6.67 → -6 (docs: "PercentChangeInCapacity")."""
    assert made(steps).change(value, tasks) == change


def test_target_tracking_takes_three_minutes_in_a_row() -> None:
    """For ECS: three of three to scale out. Its fifteen of fifteen to scale in are switched off: `idle` does that."""
    high: Load = lambda now, tasks: {catalog.WORK_RATIO: 0.8}  # noqa: E731
    broken: Load = lambda now, tasks: {catalog.WORK_RATIO: 0.5 if 120 < now <= 180 else 0.8}  # noqa: E731
    assert [each.at_seconds for each in run(200, high)[1]] == [180]
    assert [each.at_seconds for each in run(360, broken)[1]] == [350], "three minutes after it, but for ten seconds"
    low: Load = lambda now, tasks: {catalog.WORK_RATIO: 0.45}  # noqa: E731
    assert run(3 * 3600, low, tasks=8)[1] == [], "below its target, above the threshold for scaling in"


def test_scaling_in_waits_for_every_cooldown() -> None:
    """Quiet since 60 s: the alarm sounds at 360 s, but what was added at 80 s is left for its whole cooldown."""
    slow = policy_for(limits=POLICY.limits, delays=Delays(start_seconds=400.0))
    load: Load = lambda now, tasks: {catalog.WORK_RATIO: 3.0 if now <= 30 else 0.1}  # noqa: E731
    _, decisions = run(900, load, policy=slow, start_seconds=10.0)
    out, first, second = decisions[:3]
    assert first.at_seconds - out.at_seconds >= slow.scale_out[0].cooldown_seconds == 430
    assert second.at_seconds - first.at_seconds == slow.scale_in.cooldown_seconds == 120


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 20), min_size=1, max_size=60), st.floats(0, 200))
def test_whatever_happens_the_fleet_keeps_its_limits(works: list[float], gpu: float) -> None:
    def load(now: float, tasks: int) -> Mapping[Signal, float]:
        ratio = works[int(now // 30) % len(works)]
        return {catalog.WORK_RATIO: ratio, catalog.GPU_UTILIZATION: gpu, catalog.BACKLOG_SECONDS: ratio}

    fleet, decisions = run(1200, load)
    assert all(2 <= each.tasks_after <= 12 for each in decisions)
    assert all(each.tasks_after != each.tasks_before for each in decisions)
    assert 2 <= fleet.wanted <= 12
