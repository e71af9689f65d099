"""The policy's own promises: it decides within half a minute, its steps have no gaps, its budgets fit each other."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from infra.scaling.capacity import BadCapacity, Capacity, read_capacity
from infra.scaling.limits import Limits
from infra.scaling.oncall_alarms import alarms_for, rollback_alarms
from infra.scaling.policy import Policy, policy_for, targets_for, with_bulk
from infra.scaling.policy_values import StepScaling
from loadtest.simulator.alarm_evaluation import Series, State, evaluate
from service.signals import catalog

POLICY = policy_for()
STRICT = policy_for(
    Capacity(documents_per_second=50.0, tokens_per_second=20_000.0, slo_ms=50.0, saturated_documents_per_second=100.0)
)
"""A limit on latency that is missed at half of what the device could do."""
BULK = policy_for(limits=Limits(minimum_tasks=2, maximum_tasks=20), bulk_tasks=8)


@pytest.mark.parametrize(
    "scaling", [*POLICY.steps, STRICT.scale_out[0], BULK.scale_out[-1]], ids=lambda scaling: scaling.alarm.name
)
def test_steps_leave_no_gap_and_do_not_overlap(scaling: StepScaling) -> None:
    for lower, upper in pairwise(scaling.steps):
        assert lower.upper == upper.lower
    outer = {scaling.steps[0].lower, scaling.steps[-1].upper}
    assert outer == {0.0, None}, "from the threshold to infinity"


@pytest.mark.parametrize("policy", [POLICY, STRICT], ids=["usual", "strict"])
@pytest.mark.parametrize(("ratio", "tasks"), [(0.9, 2), (1.2, 4), (2.0, 3), (3.0, 2), (3.9, 10)])
def test_a_step_for_work_brings_the_ratio_down_to_the_target_at_once(policy: Policy, ratio: float, tasks: int) -> None:
    added = policy.scale_out[0].change(ratio, tasks)
    assert ratio * tasks / (tasks + added) <= policy.targets.work_ratio * 1.15
    assert added >= 1


KNEES = (0.2, 0.4, 0.55, 0.76, 0.9, 1.0)


def knee(ratio: float) -> Policy:
    return policy_for(
        Capacity(
            documents_per_second=100.0 * ratio,
            tokens_per_second=40_000.0 * ratio,
            slo_ms=500.0,
            saturated_documents_per_second=100.0,
        )
    )


@pytest.mark.parametrize("ratio", KNEES)
def test_a_larger_shortage_never_adds_fewer_tasks(ratio: float) -> None:
    policy = knee(ratio)
    added = [policy.scale_out[0].change(tenth / 20, 100) for tenth in range(1, 400)]
    assert added == sorted(added)


@pytest.mark.parametrize("ratio", KNEES)
def test_no_step_lands_beside_the_threshold_for_scaling_in(ratio: float) -> None:
    policy = knee(ratio)
    targets, steps = policy.targets, policy.scale_out[0]
    for step in steps.steps:
        assert step.lower is not None
        value = targets.scale_out_work_ratio + step.lower + 0.001
        landing = value * 100 / (100 + steps.change(value, 100))
        assert landing > 1.3 * targets.scale_in_work_ratio


@pytest.mark.parametrize(
    ("minimum", "tasks", "late", "alarmed"),
    [(2, 2, 0, False), (2, 1, 0, True), (10, 10, 0, False), (10, 9, 0, True), (10, 10, 1, False), (2, 2, 1, False)],
)
def test_fewer_tasks_than_the_minimum_are_seen(minimum: int, tasks: int, late: int, alarmed: bool) -> None:
    """`late` points lie beyond the edge of each minute."""
    policy = policy_for(limits=Limits(minimum_tasks=minimum, maximum_tasks=20))
    (missing,) = [each for each in alarms_for(policy) if each.name == "metrics-missing"]
    series = Series()
    for minute in range(3):
        for point in range(tasks * 6 - late):
            series.add(60.0 * minute + 1 + point / 10, {catalog.WORK_RATIO: 0.1})
    assert (evaluate(missing, series, 180).state is State.ALARM) is alarmed


@pytest.mark.parametrize(("refused", "alarmed"), [(0.0, False), (1.0, False), (2.0, False), (5.0, True)])
def test_a_few_refusals_among_many_requests_call_nobody(refused: float, alarmed: bool) -> None:
    """`refused` of the 200 requests of a minute, none of which is timed: scans, or batch work."""
    (refusals,) = [each for each in alarms_for(POLICY) if each.name == "refusals"]
    series = Series()
    for minute in range(2):
        at = 60.0 * minute + 30
        series.add(at, {catalog.REFUSALS: refused, catalog.REQUESTS: 150.0})
        series.add(at + 10, {catalog.REFUSALS: 0.0, catalog.REQUESTS: 50.0})
    assert (evaluate(refusals, series, 120).state is State.ALARM) is alarmed


def test_without_requests_nobody_is_refused() -> None:
    (refusals,) = [each for each in alarms_for(POLICY) if each.name == "refusals"]
    series = Series()
    for minute in range(3):
        series.add(60.0 * minute + 30, {catalog.REFUSALS: 0.0, catalog.REQUESTS: 0.0})
    assert evaluate(refusals, series, 180).state is State.OK


def test_overload_rolls_no_release_back() -> None:
    assert "refusals" not in rollback_alarms(POLICY)


def test_only_a_measured_limit_on_latency_calls_somebody_or_rolls_back() -> None:
    assert not {"latency-slo"} & {*rollback_alarms(POLICY), *(each.name for each in alarms_for(POLICY))}
    (slow,) = [each for each in alarms_for(STRICT) if each.name == "latency-slo"]
    assert (slow.conditions[0].signal, slow.conditions[0].threshold) == (catalog.REQUEST_SECONDS, 0.05)
    assert "latency-slo" in rollback_alarms(STRICT)


@pytest.mark.parametrize("policy", [POLICY, STRICT], ids=["usual", "strict"])
def test_scaling_in_at_the_threshold_does_not_trigger_scaling_out(policy: Policy) -> None:
    targets = policy.targets
    smallest = policy.limits.minimum_tasks + 1
    assert targets.scale_in_work_ratio * smallest / (smallest - 1) < targets.work_ratio


def test_what_cuts_connections_waits_longer_than_the_longest_request() -> None:
    delays = POLICY.delays
    assert delays.stop_seconds >= delays.drain_grace_seconds + delays.longest_request_seconds
    assert delays.longest_request_seconds <= delays.deregistration_seconds <= delays.stop_seconds
    assert delays.idle_seconds > delays.longest_request_seconds


def sounding(policy: Policy, tasks: int, wanted: int, **others: float) -> set[str]:
    """The alarms after ten minutes in which each task published this, every ten seconds."""
    values = {catalog.WORK_RATIO: 0.1, catalog.BACKLOG_SECONDS: 2.0, catalog.QUEUE_DEPTH: 30.0}
    values |= {
        catalog.GPU_UTILIZATION: 100.0,
        catalog.OLDEST_AGE_SECONDS: 9.0,
        catalog.BULK_TASKS_WANTED: float(wanted),
    }
    values |= {getattr(catalog, name): value for name, value in others.items()}
    series = Series()
    for second in range(0, 600, 10):
        for task in range(tasks):
            series.add(second + 1 + task / 10, values)
    alarms = [step.alarm for step in policy.steps]
    return {each.name for each in alarms if evaluate(each, series, 600).state is State.ALARM}


@pytest.mark.parametrize(
    ("tasks", "wanted", "alarms"),
    [
        (20, 0, {"idle"}),
        (20, 1, {"idle"}),
        (20, 8, {"idle"}),
        (9, 8, {"idle"}),
        (8, 8, set()),
        (7, 8, {"bulk-behind"}),
        (2, 8, {"bulk-behind"}),
    ],
)
def test_bulk_work_keeps_as_many_tasks_as_its_deadline_needs_and_no_more(
    tasks: int, wanted: int, alarms: set[str]
) -> None:
    """Its GPUs are busy and its documents wait, whatever the deadline is."""
    assert sounding(BULK, tasks, wanted) == alarms


def test_interactive_work_still_keeps_and_adds_tasks_beside_bulk() -> None:
    assert sounding(BULK, 8, 0, WORK_RATIO=0.6) == set()
    assert sounding(BULK, 8, 0, WORK_RATIO=0.9) == {"work-ratio-high"}
    assert sounding(BULK, 8, 0, WORK_RATIO=0.6, BACKLOG_SECONDS=6.0) == {"backlog-high"}


def test_what_waits_is_bulks_while_nobody_else_works() -> None:
    assert sounding(BULK, 8, 0, BACKLOG_SECONDS=60.0, QUEUE_DEPTH=1e4) == {"idle"}
    again = with_bulk(BULK, 8)
    assert again == BULK


def test_idle_room_alone_asks_for_no_task() -> None:
    idle_room = policy_for(bulk_tasks=0)
    assert sounding(idle_room, 3, 1) == {"idle"}
    assert "bulk-behind" not in {step.alarm.name for step in idle_room.steps}


@pytest.mark.parametrize(("wanted", "tasks"), [(3, 2), (5, 2), (9, 8), (20, 2), (40, 20), (12, 10)])
def test_a_step_for_bulk_reaches_what_is_wanted_at_once_and_little_more(wanted: int, tasks: int) -> None:
    (by_bulk,) = [step for step in BULK.scale_out if step.alarm.name == "bulk-behind"]
    after = tasks + by_bulk.change(wanted / tasks, tasks)
    assert wanted <= after <= max(wanted * 1.3, tasks + 1)


@pytest.mark.parametrize(("minimum", "maximum"), [(1, 5), (0, 0), (4, 3), (-1, 3)])
def test_a_fleet_of_one_is_refused(minimum: int, maximum: int) -> None:
    with pytest.raises(ValueError, match="at least 2"):
        Limits(minimum_tasks=minimum, maximum_tasks=maximum)


def test_targets_follow_the_measured_capacity() -> None:
    targets = targets_for(Capacity(documents_per_second=30.0, tokens_per_second=12_000.0, slo_ms=800.0))
    assert (targets.backlog_seconds, targets.queue_depth, targets.slo_seconds) == (8.0, 240, 0.8)


def test_a_low_knee_lowers_the_targets() -> None:
    usual, strict = POLICY.targets, STRICT.targets
    assert (usual.work_ratio, usual.scale_out_work_ratio, usual.scale_in_work_ratio) == (0.7, 0.85, 0.4)
    assert (strict.work_ratio, strict.scale_out_work_ratio, strict.scale_in_work_ratio) == (0.4, 0.5, 0.229)


def test_a_capacity_is_read_out_of_a_larger_report() -> None:
    report = {"documents_per_second": 30, "tokens_per_second": 12e3, "slo_ms": 500, "anything": {"else": 1}}
    assert read_capacity(json.dumps(report)) == Capacity(
        documents_per_second=30.0, tokens_per_second=12_000.0, slo_ms=500.0
    )
    full = read_capacity(json.dumps({**report, "saturated_documents_per_second": 40}))
    assert full.knee_ratio == 0.75


@pytest.mark.parametrize(
    "bad", ["{}", "[]", "nonsense", '{"documents_per_second": 0}', '{"documents_per_second": true}']
)
def test_a_capacity_without_its_figures_is_refused_by_name(bad: str) -> None:
    with pytest.raises(BadCapacity, match="capacity file"):
        read_capacity(bad)


def test_every_trouble_that_the_service_publishes_has_an_alarm() -> None:
    conditions = [each for alarm in alarms_for(STRICT) for each in alarm.conditions]
    watched = {each.signal for each in conditions} | {each.per for each in conditions}
    watched.add(catalog.SERVER_ERRORS)  # By an alarm that adds the balancer's.
    acted_on = {each.signal for scaling in POLICY.steps for each in scaling.alarm.conditions}
    acted_on |= {each.signal for step in BULK.steps for each in step.alarm.conditions}
    for_people = {
        catalog.BULK_BACKLOG_SECONDS,
        catalog.BUSY_RATIO,
        catalog.REQUESTS_IN_FLIGHT,
        *catalog.STAGES.values(),
    }
    assert set(catalog.SIGNALS) - watched - acted_on == for_people
