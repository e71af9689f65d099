"""Scaling in the templates follows the policy: its steps, and its target."""

from __future__ import annotations

from typing import Any

from infra.environments import Environment
from infra.stacks.app import policy_of
from tests.support.fleets import EACH, Read, fleet
from tests.support.templates import resources


@EACH
def test_step_policies_have_the_policys_steps(template: Read, environment: Environment) -> None:
    made = fleet(template, environment)
    kinds = ("AWS::ApplicationAutoScaling::ScalingPolicy", "AWS::AutoScaling::ScalingPolicy")
    found = [each for kind in kinds for each in resources(made, kind).values() if each["PolicyType"] == "StepScaling"]
    configurations = [each.get("StepScalingPolicyConfiguration", each) for each in found]
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


@EACH
def test_target_tracking_keeps_work_per_task_and_only_scales_out(template: Read, environment: Environment) -> None:
    made = fleet(template, environment)
    kinds = ("AWS::ApplicationAutoScaling::ScalingPolicy", "AWS::AutoScaling::ScalingPolicy")
    found = [each for kind in kinds for each in resources(made, kind).values()]
    (tracking,) = [each for each in found if each["PolicyType"] == "TargetTrackingScaling"]
    configuration = tracking.get("TargetTrackingScalingPolicyConfiguration") or tracking["TargetTrackingConfiguration"]
    work, wanted, whole = configuration["CustomizedMetricSpecification"]["Metrics"]
    assert configuration["TargetValue"] == policy_of(environment).tracking.target
    assert configuration["DisableScaleIn"] is True
    metric = work["MetricStat"]["Metric"]
    assert (metric["MetricName"], work["MetricStat"]["Stat"]) == ("WorkRatio", "Sum")
    assert metric["Dimensions"] == [{"Name": "Service", "Value": environment.fleet}]
    assert wanted["MetricStat"]["Metric"]["MetricName"] in ("DesiredTaskCount", "GroupDesiredCapacity")
    assert (whole["Expression"], whole["ReturnData"]) == ("work / 6 / wanted", True)
