"""The policy that is read out of a template is the one that the template was made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from infra.environments import ENVIRONMENTS, Environment, Purchase, Variant
from infra.scaling.alarm_evaluation import Alarm
from infra.scaling.deployed_policy import BadTemplate, read_template
from infra.scaling.policy_values import StepScaling
from infra.stacks.app import policy_of
from service.signals.catalog import GPU_UTILIZATION, WORK_RATIO
from tests.support.fleets import OPTIONS
from tests.support.templates import Template

ON_ECS = [each for each in ENVIRONMENTS if each.variant is Variant.ECS]


def plain(step: StepScaling) -> StepScaling:
    """Without the alarm's words, which a template has in one."""
    alarm: Alarm = replace(step.alarm, meaning="", remedy="")
    return replace(step, alarm=alarm)


@pytest.mark.parametrize("environment", ON_ECS, ids=lambda each: each.name)
def test_the_template_has_the_whole_policy(environment: Environment, template: Callable[[str], Template]) -> None:
    policy = policy_of(environment)
    start = environment.timed_delays.start_seconds
    deployed = read_template(template(f"{environment.name}-fleet"), start_seconds=start)
    assert [plain(each) for each in deployed.policy.steps] == [plain(each) for each in policy.steps]
    assert deployed.policy.tracking == policy.tracking
    assert deployed.policy.limits == policy.limits
    assert deployed.policy.schedules == policy.schedules
    assert deployed.policy.delays.start_seconds == start
    assert deployed.warm_pool == environment.warm_pool
    assert deployed.deregistration_seconds == policy.delays.deregistration_seconds
    assert deployed.policy.bulk_tasks == policy.bulk_tasks
    assert deployed.maximum_percent == (150 if policy.limits.minimum_tasks else 200)
    assert deployed.zones == environment.zone_count
    on_spot = 0.75 if policy.limits.minimum_tasks else 1.0
    assert deployed.spot_weight == (on_spot if environment.above_base is Purchase.SPOT else 0.0)
    assert deployed.spot_watched
    assert deployed.policy.targets.gpu_target == 0
    assert deployed.deadline_seconds == policy.delays.longest_request_seconds


def test_a_target_for_the_gpu_is_read(template: Callable[[str], Template]) -> None:
    deployed = read_template(template("options-fleet"), start_seconds=100.0).policy
    assert deployed.targets.gpu_target == OPTIONS.tuning.gpu_target == 70
    assert deployed.tracking.signal is WORK_RATIO
    (veto,) = [each for each in deployed.scale_in.alarm.conditions if each.signal is GPU_UTILIZATION]
    assert veto.threshold == 40.0, "as far below its target as work is"


def test_the_tasks_own_limits_are_read(template: Callable[[str], Template]) -> None:
    fleet = template("production-fleet")
    task = next(each for each in fleet["Resources"].values() if each["Type"] == "AWS::ECS::TaskDefinition")
    task["Properties"]["ContainerDefinitions"][0]["Environment"] += [
        {"Name": "GLEANER_MAX_QUEUE_MS", "Value": "500"},
        {"Name": "GLEANER_QUEUE_LIMIT_TOKENS", "Value": "20000"},
    ]
    deployed = read_template(fleet, start_seconds=100.0)
    assert (deployed.max_queue_seconds, deployed.queue_limit_tokens) == (0.5, 20_000.0)


@pytest.mark.parametrize("name", ["plain-fleet", "production-base"])
def test_other_templates_are_refused(name: str, template: Callable[[str], Template]) -> None:
    with pytest.raises(BadTemplate, match="not that of a fleet on ECS"):
        read_template(template(name), start_seconds=100.0)


def test_an_alarm_in_another_form_is_refused_and_not_half_read(template: Callable[[str], Template]) -> None:
    fleet = template("production-fleet")
    for each in fleet["Resources"].values():
        if each["Type"] == "AWS::CloudWatch::Alarm" and each["Properties"]["AlarmName"].endswith("-idle"):
            each["Properties"]["Metrics"][-1]["Expression"] = "m0 * 2"
    with pytest.raises(BadTemplate, match="m0"):
        read_template(fleet, start_seconds=100.0)
