"""Scaling in the templates follows the policy: its steps, and its target."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from infra.environments import Environment, find_environment
from infra.fleet_scaling import policy_of
from infra.scaling.policy_values import Tuning
from infra.stacks.template_rules import findings
from tests.support.fleets import EACH, Read, fleet
from tests.support.templates import resources


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


@pytest.mark.parametrize("name", ["production", "plain"])
def test_whoever_insists_gets_a_target_for_the_gpu(tmp_path: Path, name: str) -> None:
    from infra.stacks.app import build

    environment = replace(find_environment(name), tuning=Tuning(gpu_target=60))
    build(tmp_path, (environment,), nag=False).synth()
    made = json.loads((tmp_path / f"gleaner-{name}-fleet.template.json").read_text())
    kinds = ("AWS::ApplicationAutoScaling::ScalingPolicy", "AWS::AutoScaling::ScalingPolicy")
    _, target = _targets([each for kind in kinds for each in resources(made, kind).values()])
    metric = target["CustomizedMetricSpecification"]
    assert (target["TargetValue"], metric["MetricName"], metric["Statistic"]) == (60, "GpuUtilization", "Average")
    assert target["DisableScaleIn"] is True
    assert findings(made) == []


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
