"""The dashboard shows what scales, with the policy's thresholds, and the alarms that call somebody."""

from __future__ import annotations

import json
from typing import Any

from infra.environments import Environment
from infra.fleet_scaling import policy_of
from service.signals.catalog import SIGNALS
from tests.support.fleets import EACH, Read, fleet
from tests.support.templates import Template, only, resources


def body(template: Template) -> dict[str, Any]:
    """With the names of resources in the place of what AWS fills in."""
    parts = only(template, "AWS::CloudWatch::Dashboard")["DashboardBody"]["Fn::Join"][1]
    read: dict[str, Any] = json.loads("".join(p if isinstance(p, str) else str(next(iter(p.values()))) for p in parts))
    return read


def plots(template: Template) -> dict[str, dict[str, Any]]:
    """The plots by their first metric."""
    found = [each["properties"] for each in body(template)["widgets"] if each["type"] == "metric"]
    return {each["metrics"][0][1]: each for each in found}


def lines(plot: dict[str, Any]) -> set[float]:
    return {each["value"] for each in plot["annotations"]["horizontal"]}


@EACH
def test_each_threshold_is_a_line_over_its_signal(template: Read, environment: Environment) -> None:
    shown, targets = plots(fleet(template, environment)), policy_of(environment).targets
    gpu = {targets.gpu_percent, *([targets.gpu_target] if targets.gpu_target else [])}
    assert lines(shown["GpuUtilization"]) == gpu
    assert lines(shown["QueueDepth"]) == {targets.queue_depth}
    assert targets.backlog_seconds in lines(shown["BacklogSeconds"])
    assert lines(shown["RequestSeconds"]) == ({0.5} if environment.capacity_file else set())
    assert {targets.scale_out_work_ratio, targets.work_ratio, targets.scale_in_work_ratio} == lines(shown["WorkRatio"])
    assert [lines(shown[name]) for name in shown if name == "BulkTasksWanted"] == (
        [{environment.bulk.tasks}] if environment.bulk else []
    )
    wanted = [each for each in shown if each in ("DesiredTaskCount", "GroupDesiredCapacity")]
    assert lines(shown[wanted[0]]) == {environment.limits.minimum_tasks, environment.limits.maximum_tasks}


@EACH
def test_it_asks_for_metrics_of_this_fleet_that_somebody_publishes(template: Read, environment: Environment) -> None:
    known = {signal.name for signal in SIGNALS}
    asked = [metric for plot in plots(fleet(template, environment)).values() for metric in plot["metrics"]]
    assert len(asked) > 12
    for namespace, name, *place in asked:
        assert namespace.startswith(("AWS/", "ECS/")) or name in known
        assert environment.fleet in place


@EACH
def test_it_has_every_alarm_that_calls_somebody(template: Read, environment: Environment) -> None:
    made = fleet(template, environment)
    states = body(made)["widgets"][0]["properties"]["alarms"]
    calling = [name for name, each in resources(made, "AWS::CloudWatch::Alarm").items() if each.get("OKActions")]
    assert len(states) == len(calling) > 8 - 2 * (not environment.limits.minimum_tasks)
    assert sorted(states) == sorted(str([name, "Arn"]) for name in calling)
