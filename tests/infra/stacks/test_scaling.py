"""Scaling in the templates follows the policy: its steps, and its target."""

from __future__ import annotations

from typing import Any

import pytest

from infra.environments import Environment, Variant
from infra.fleet_scaling import policy_of
from tests.support.fleets import EACH, OPTIONS, PLAIN_OPTIONS, Read, fleet
from tests.support.templates import only, resources


@EACH
def test_step_policies_have_the_policys_steps(template: Read, environment: Environment) -> None:
    made = fleet(template, environment)
    kinds = ("AWS::ApplicationAutoScaling::ScalingPolicy", "AWS::AutoScaling::ScalingPolicy")
    found = [each for kind in kinds for each in resources(made, kind).values() if each["PolicyType"] == "StepScaling"]
    configurations = [each.get("StepScalingPolicyConfiguration", each) for each in found]
    firsts = [each for each in configurations if each["AdjustmentType"] == "ChangeInCapacity"]
    assert len(firsts) == (environment.limits.minimum_tasks == 0), "of a fleet that begins at no task"
    configurations = [each for each in configurations if each not in firsts]
    wanted = [_adjustments(step) for step in policy_of(environment).steps]
    assert [each["StepAdjustments"] for each in configurations if each["StepAdjustments"] not in wanted] == []
    assert len(configurations) == len(wanted)
    assert {each["AdjustmentType"] for each in configurations} == {"PercentChangeInCapacity"}
    assert {each["MinAdjustmentMagnitude"] for each in configurations} == {1}


def _adjustments(scaling: Any) -> list[dict[str, float]]:
    bounds = (("MetricIntervalLowerBound", "lower"), ("MetricIntervalUpperBound", "upper"))
    return [
        {
            "ScalingAdjustment": step.percent,
            **{name: getattr(step, at) for name, at in bounds if getattr(step, at) is not None},
        }
        for step in scaling.steps
    ]


def _targets(policies: list[Any]) -> list[dict[str, Any]]:
    """What target tracking is told, work first."""
    keys = ("TargetTrackingScalingPolicyConfiguration", "TargetTrackingConfiguration")
    found = [each[key] for each in policies for key in keys if key in each]
    return sorted(found, key=lambda each: "Metrics" not in each["CustomizedMetricSpecification"])


@pytest.mark.parametrize("environment", [OPTIONS, PLAIN_OPTIONS], ids=lambda each: each.name)
def test_whoever_insists_gets_a_target_for_the_gpu(template: Read, environment: Environment) -> None:
    kinds = ("AWS::ApplicationAutoScaling::ScalingPolicy", "AWS::AutoScaling::ScalingPolicy")
    made = fleet(template, environment)
    _, target = _targets([each for kind in kinds for each in resources(made, kind).values()])
    metric = target["CustomizedMetricSpecification"]
    assert (target["TargetValue"], metric["MetricName"]) == (environment.tuning.gpu_target, "GpuUtilization")
    assert metric["Statistic"] == "Average"
    assert target["DisableScaleIn"] is True


@EACH
def test_limits_and_schedules_are_those_of_the_environment(template: Read, environment: Environment) -> None:
    made, limits = fleet(template, environment), environment.limits
    for target in resources(made, "AWS::ApplicationAutoScaling::ScalableTarget").values():
        assert (target["MinCapacity"], target["MaxCapacity"]) == (limits.minimum_tasks, limits.maximum_tasks)
        actions = [
            (each["Schedule"], each["Timezone"], each["ScalableTargetAction"]["MinCapacity"])
            for each in target.get("ScheduledActions", ())
        ]
        assert actions == [(f"cron({each.cron})", each.timezone, each.minimum_tasks) for each in environment.schedules]
    if environment.variant is Variant.ASG:
        group = only(made, "AWS::AutoScaling::AutoScalingGroup")
        assert (int(group["MinSize"]), int(group["MaxSize"])) == (limits.minimum_tasks, limits.maximum_tasks)
        plain = resources(made, "AWS::AutoScaling::ScheduledAction").values()
        assert {(each["Recurrence"], each["TimeZone"], each["MinSize"]) for each in plain} == {
            (each.unix_cron, each.timezone, each.minimum_tasks) for each in environment.schedules
        }


@EACH
def test_target_tracking_keeps_work_per_task_and_only_scales_out(template: Read, environment: Environment) -> None:
    made = fleet(template, environment)
    kinds = ("AWS::ApplicationAutoScaling::ScalingPolicy", "AWS::AutoScaling::ScalingPolicy")
    found = [each for kind in kinds for each in resources(made, kind).values()]
    work_target, *gpu_targets = _targets(found)
    configuration = work_target
    assert [each["TargetValue"] for each in gpu_targets] == [each for each in [environment.tuning.gpu_target] if each]
    work, wanted, whole = configuration["CustomizedMetricSpecification"]["Metrics"]
    assert configuration["TargetValue"] == policy_of(environment).tracking.target
    assert configuration["DisableScaleIn"] is True
    metric = work["MetricStat"]["Metric"]
    assert (metric["MetricName"], work["MetricStat"]["Stat"]) == ("WorkRatio", "Sum")
    assert metric["Dimensions"] == [{"Name": "Service", "Value": environment.fleet}]
    assert wanted["MetricStat"]["Metric"]["MetricName"] in ("DesiredTaskCount", "GroupDesiredCapacity")
    assert (whole["Expression"], whole["ReturnData"]) == ("work / 6 / wanted", True)
