"""Alarms in the templates are those of the policy, and their expressions breach where all conditions hold."""

from __future__ import annotations

import re
from typing import Any

import pytest

from infra.environments import ENVIRONMENTS, Environment, Variant
from infra.fleet_scaling import policy_of
from infra.scaling.alarm_values import Alarm
from infra.scaling.oncall_alarms import INSTANCE_DAYS, alarms_for, instances_missing, tasks_missing
from infra.scaling.policy import policy_for
from infra.stacks.cloudwatch_alarms import expression, safe_value
from service.signals.catalog import SERVICE_DIMENSION, SIGNALS
from tests.support.fleets import EACH, OPTIONS, Read, alarms, fleet


def metrics_of(alarm: dict[str, Any]) -> list[tuple[str, str, int]]:
    stats = [each["MetricStat"] for each in alarm.get("Metrics", ()) if "MetricStat" in each]
    if stats:
        return [(each["Metric"]["MetricName"], each["Stat"], each["Period"]) for each in stats]
    statistic = alarm.get("Statistic") or alarm["ExtendedStatistic"]
    return [(alarm["MetricName"], statistic, alarm["Period"])]


@EACH
def test_every_alarm_of_the_policy_is_there_with_its_numbers(template: Read, environment: Environment) -> None:
    policy = policy_of(environment)
    found = alarms(fleet(template, environment))
    for alarm in (*alarms_for(policy), *(step.alarm for step in policy.steps)):
        made = found[f"{environment.fleet}-{alarm.name}"]
        first = alarm.conditions[0]
        asked = [(each.signal.name, each.statistic.value, alarm.period_seconds) for each in alarm.conditions]
        asked += [(each.per.name, each.per_statistic, alarm.period_seconds) for each in alarm.conditions if each.per]
        if first.per is not None:
            assert made["Metrics"][-1]["Expression"] == "m0 / n0"
        assert metrics_of(made) == asked
        assert (made["Threshold"], made["ComparisonOperator"]) == (first.threshold, first.comparison.value)
        assert (made["EvaluationPeriods"], made["DatapointsToAlarm"]) == (alarm.periods, alarm.datapoints_to_alarm)
        assert made["TreatMissingData"] == alarm.missing.value
        assert made["AlarmActions"], "an alarm without a listener"
    others = 3 if policy.limits.minimum_tasks else 4
    """The balancer's two, the shortfall; the alarm that starts the first task."""
    assert len(found) == len(alarms_for(policy)) + len(policy.steps) + others


@EACH
def test_alarms_ask_for_what_somebody_publishes_on_periods_that_there_are(
    template: Read, environment: Environment
) -> None:
    """An alarm on a metric that no task publishes stays silent for ever."""
    known = {signal.name for signal in (*SIGNALS, INSTANCE_DAYS)}
    for alarm in alarms(fleet(template, environment)).values():
        stats = [each["MetricStat"] for each in alarm.get("Metrics", ()) if "MetricStat" in each]
        for metric, period in [(each["Metric"], each["Period"]) for each in stats] or [(alarm, alarm["Period"])]:
            if not metric["Namespace"].startswith(("AWS/", "ECS/")):
                assert metric["MetricName"] in known
                assert [each["Name"] for each in metric["Dimensions"]] == [SERVICE_DIMENSION]
                assert period in (10, 20, 30) or period % 60 == 0


@EACH
def test_what_is_wanted_and_not_there_calls_somebody(template: Read, environment: Environment) -> None:
    name = environment.fleet
    wanted = tasks_missing(name, name) if environment.variant is Variant.ECS else instances_missing(name)
    made = alarms(fleet(template, environment))[f"{name}-{wanted.name}"]
    found = {each["Id"]: each["MetricStat"]["Metric"] for each in made["Metrics"] if "MetricStat" in each}
    for key, metric in {"wanted": wanted.wanted, "present": wanted.present}.items():
        assert (found[key]["Namespace"], found[key]["MetricName"]) == (metric.namespace, metric.name)
        assert {each["Name"]: each["Value"] for each in found[key]["Dimensions"]} == dict(metric.dimensions)
    assert made["Metrics"][-1]["Expression"] == "wanted - present"
    assert (made["Threshold"], made["ComparisonOperator"]) == (0, "GreaterThanThreshold")
    assert made["EvaluationPeriods"] * made["Metrics"][0]["MetricStat"]["Period"] > 335, "longer than a cold start"
    assert made["AlarmActions"]


def _evaluate(text: str, values: list[float]) -> float:
    """The little of CloudWatch's metric mathematics that the expressions use."""
    found = re.fullmatch(r"IF\((.+), m0, (.+)\)", re.sub(r" / n\d+", "", text))
    assert found, text
    condition = re.sub(r"m(\d+)", lambda name: repr(values[int(name[1])]), found[1]).replace("AND", "and")
    return values[0] if eval(condition, {}) else float(found[2])


FEW = next(each for each in alarms_for(policy_of(OPTIONS)) if each.name == "latency-slo")


@pytest.mark.parametrize(
    ("requests", "p99", "alarming"), [(1000, 0.6, True), (100, 0.6, True), (99, 60.0, False), (1000, 0.5, False)]
)
def test_the_slowest_of_a_few_requests_calls_nobody(requests: float, p99: float, alarming: bool) -> None:
    first = FEW.conditions[0]
    assert first.comparison.holds(_evaluate(expression(FEW.conditions), [p99, requests]), first.threshold) is alarming


@pytest.mark.parametrize(
    "alarm",
    [step.alarm for policy in (policy_of(ENVIRONMENTS[0]), policy_for(bulk_tasks=4)) for step in policy.steps],
    ids=lambda a: a.name,
)
def test_an_expression_breaches_exactly_where_all_conditions_hold(alarm: Alarm) -> None:
    first = alarm.conditions[0]
    assert not first.comparison.holds(safe_value(first), first.threshold)
    if len(alarm.conditions) == 1:
        return
    sides = (-0.01, 0.0, 0.01)
    for i in range(len(sides) ** len(alarm.conditions)):
        offsets = [sides[i // len(sides) ** k % len(sides)] for k in range(len(alarm.conditions))]
        values = [each.threshold + offset for each, offset in zip(alarm.conditions, offsets, strict=True)]
        holds = [each.comparison.holds(v, each.threshold) for each, v in zip(alarm.conditions, values, strict=True)]
        assert first.comparison.holds(_evaluate(expression(alarm.conditions), values), first.threshold) == all(holds)
