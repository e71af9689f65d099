"""Each rule on gradual releases, shown on a real template that was spoilt in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from infra.stacks.fleet.traffic_shift import shifting
from infra.stacks.release_rules import CHANGES_RULES
from infra.stacks.template_rules import findings
from tests.support.templates import Template, only, resources

Read = Callable[[str], Template]
Change = Callable[[Template], object]
FLEET = "options-fleet"
GROUP = "AWS::ElasticLoadBalancingV2::TargetGroup"
RULE = "AWS::ElasticLoadBalancingV2::ListenerRule"


def service(template: Template) -> dict[str, Any]:
    return only(template, "AWS::ECS::Service")


def deployment(template: Template) -> dict[str, Any]:
    found: dict[str, Any] = service(template)["DeploymentConfiguration"]
    return found


def advanced(template: Template) -> dict[str, Any]:
    found: dict[str, Any] = service(template)["LoadBalancers"][0]["AdvancedConfiguration"]
    return found


def shares(template: Template) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = only(template, RULE)["Actions"][0]["ForwardConfig"]["TargetGroups"]
    return found


def another_rule(template: Template) -> None:
    action = {"Type": "forward", "TargetGroupArn": service(template)["LoadBalancers"][0]["TargetGroupArn"]}
    condition = {"Field": "path-pattern", "PathPatternConfig": {"Values": ["/extract"]}}
    template["Resources"]["Door"] = {"Type": RULE, "Properties": {"Conditions": [condition], "Actions": [action]}}


def without_right(template: Template) -> None:
    for policy in resources(template, "AWS::IAM::Policy").values():
        kept = [each for each in policy["PolicyDocument"]["Statement"] if each["Action"] != CHANGES_RULES]
        policy["PolicyDocument"]["Statement"] = kept


def role_of_another_service(template: Template) -> None:
    role = resources(template, "AWS::IAM::Role")[advanced(template)["RoleArn"]["Fn::GetAtt"][0]]
    role["AssumeRolePolicyDocument"]["Statement"][0]["Principal"] = {"Service": "ec2.amazonaws.com"}


def count_one_group(template: Template) -> None:
    for alarm in resources(template, "AWS::CloudWatch::Alarm").values():
        if "too-few-healthy" in alarm["AlarmName"]:
            alarm["Metrics"].pop(1)


def linear(percent: float, minutes: int) -> Change:
    def change(template: Template) -> None:
        steps = {"StepPercent": percent, "StepBakeTimeInMinutes": minutes}
        deployment(template).update(Strategy="LINEAR", LinearConfiguration=steps)

    return change


def forecast(template: Template) -> None:
    policy = {"PolicyType": "PredictiveScaling", "PolicyName": "forecast"}
    template["Resources"]["F"] = {"Type": "AWS::ApplicationAutoScaling::ScalingPolicy", "Properties": policy}


SPOILT: dict[str, tuple[Change, str]] = {
    "no second group": (lambda t: advanced(t).pop("AlternateTargetGroupArn"), "no second target group"),
    "the same group": (
        lambda t: advanced(t).update(AlternateTargetGroupArn=service(t)["LoadBalancers"][0]["TargetGroupArn"]),
        "no second target group",
    ),
    "groups that differ": (
        lambda t: next(iter(resources(t, GROUP).values())).update(HealthCheckIntervalSeconds=30),
        "differ in more than their name",
    ),
    "a rule for one group": (lambda t: shares(t).pop(), "does not forward to both"),
    "a rule that shares out": (lambda t: shares(t)[1].update(Weight=50), "does not forward to both"),
    "a rule that stays": (another_rule, "stays with the tasks that end"),
    "no role": (lambda t: advanced(t).pop("RoleArn"), "names no role"),
    "a role for instances": (role_of_another_service, "names no role"),
    "a role without the right": (without_right, "may not change the rule"),
    "no room": (
        lambda t: only(t, "AWS::AutoScaling::AutoScalingGroup").update(MaxSize="30"),
        "has 30 instances, a gradual release at the maximum wants twice that",
    ),
    "nobody watches": (lambda t: deployment(t).pop("Alarms"), "no alarm moves them back"),
    "alarms that only tell": (lambda t: deployment(t)["Alarms"].update(Rollback=False), "no alarm moves them back"),
    "a share that nobody sees": (
        lambda t: deployment(t)["CanaryConfiguration"].update(CanaryPercent=1),
        "moves 1 % of the requests",
    ),
    "too fast": (
        lambda t: deployment(t)["CanaryConfiguration"].update(CanaryBakeTimeInMinutes=2),
        "goes on after 2 minutes, an alarm that would stop it looks at 5",
    ),
    "gone at once": (lambda t: deployment(t).update(BakeTimeInMinutes=0), "goes on after 0 minutes"),
    "steps that nobody sees": (linear(2, 10), "moves 2 % of the requests"),
    "steps too fast": (linear(25, 3), "goes on after 3 minutes"),
    "one group's health": (count_one_group, "counts the healthy tasks of one target group"),
    "a forecast": (forecast, "counts the requests of one target group"),
}


@pytest.mark.parametrize("part", ["base", "fleet", "machine"])
def test_the_templates_break_no_rule(template: Read, part: str) -> None:
    assert findings(template(f"options-{part}")) == []


@pytest.mark.parametrize("what", SPOILT)
def test_what_is_spoilt_is_found(template: Read, what: str) -> None:
    change, words = SPOILT[what]
    spoilt = template(FLEET)
    change(spoilt)
    assert any(words in finding for finding in findings(spoilt)), findings(spoilt)


def test_linear_steps_that_can_be_watched_break_no_rule(template: Read) -> None:
    made = template(FLEET)
    linear(25, 10)(made)
    assert findings(made) == []


def test_a_rolling_release_is_judged_by_none_of_these(template: Read) -> None:
    made = template("production-fleet")
    assert deployment(made)["Strategy"] == "ROLLING"
    assert "AdvancedConfiguration" not in service(made)["LoadBalancers"][0]
    assert len(resources(made, GROUP)) == 1


def test_what_ecs_is_told_is_what_the_environment_says(template: Read) -> None:
    from infra.releases import LINEAR

    told = deployment(template(FLEET))
    assert (told["Strategy"], told["BakeTimeInMinutes"]) == ("CANARY", 10)
    assert told["CanaryConfiguration"] == {"CanaryPercent": 10, "CanaryBakeTimeInMinutes": 10}
    steps = shifting(LINEAR)["linear_configuration"]
    assert (steps.step_percent, steps.step_bake_time_in_minutes) == (25, 10)
