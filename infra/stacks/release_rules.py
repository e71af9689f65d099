"""Rules on gradual releases, of which AWS refuses some weeks later and most never. Pure.

groups     two target groups that differ in nothing; one rule that forwards to both, and no other to either
ECS        may change that rule
room       as many instances again, with which the new tasks start before the old ones end
alarms     roll back, and have the time to see it; see the share; add both target groups up
forecast   none: it counts one target group
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from infra.releases import LEAST_PERCENT
from infra.stacks.template import Finding, Template, listed, of, weights

GRADUAL = ("CANARY", "LINEAR", "BLUE_GREEN")
GROUP = "AWS::ElasticLoadBalancingV2::TargetGroup"
LISTENER_RULE = "AWS::ElasticLoadBalancingV2::ListenerRule"
ALARM = "AWS::CloudWatch::Alarm"
CHANGES_RULES = "elasticloadbalancing:ModifyRule"


def target_groups(template: Template) -> Iterator[Finding]:
    """Requests are moved from one group to the other; whatever forwards elsewhere stays where tasks end."""
    groups = dict(of(template, GROUP))
    for name, service in _gradual(template):
        pair = _pair(service)
        if len(pair) != 2 or not pair <= set(groups):
            yield name, "moves requests, but has no second target group to move them to"
            continue
        if len({str(_settings(groups[each])) for each in pair}) > 1:
            yield name, "moves requests between target groups that differ in more than their name"
        moved = _advanced(service).get("ProductionListenerRule", {}).get("Ref")
        for rule, properties in of(template, LISTENER_RULE):
            forwards = weights(properties)
            if rule == moved and (
                set(forwards) != pair or [bool(each) for each in sorted(forwards.values())] != [False, True]
            ):
                yield rule, "does not forward to both target groups, all of it to one"
            elif rule != moved and pair & set(forwards):
                yield rule, "stays with the tasks that end when the requests are moved"


def mover(template: Template) -> Iterator[Finding]:
    """ECS changes the rule by a role of ours."""
    for name, service in _gradual(template):
        moved = _advanced(service).get("ProductionListenerRule")
        role = _advanced(service).get("RoleArn", {}).get("Fn::GetAtt", [None])[0]
        roles = dict(of(template, "AWS::IAM::Role"))
        if role not in roles or "ecs.amazonaws.com" not in str(roles[role].get("AssumeRolePolicyDocument")):
            yield name, "names no role by which ECS may move requests"
            continue
        granted = [
            each
            for _, policy in of(template, "AWS::IAM::Policy")
            if {"Ref": role} in policy.get("Roles", ())
            for each in policy["PolicyDocument"]["Statement"]
        ]
        if not any(CHANGES_RULES in listed(each["Action"]) and moved in listed(each["Resource"]) for each in granted):
            yield name, f"has a role that may not change the rule ({CHANGES_RULES})"


def room(template: Template) -> Iterator[Finding]:
    """The second set of tasks is there before the first request goes over."""
    if not _gradual(template):
        return
    for _, target in of(template, "AWS::ApplicationAutoScaling::ScalableTarget"):
        for group, properties in of(template, "AWS::AutoScaling::AutoScalingGroup"):
            if int(properties["MaxSize"]) < 2 * target["MaxCapacity"]:
                yield group, f"has {properties['MaxSize']} instances, a gradual release at the maximum wants twice that"


def watched(template: Template) -> Iterator[Finding]:
    """A share that no alarm can see, or no time to see it in, is a rolling release that costs more."""
    alarms = {each.get("AlarmName"): each for _, each in of(template, ALARM)}
    for name, service in _gradual(template):
        deployment = service["DeploymentConfiguration"]
        guards = deployment.get("Alarms", {})
        if not (guards.get("Enable") and guards.get("Rollback") and guards.get("AlarmNames")):
            yield name, "moves requests, and no alarm moves them back"
            continue
        slowest = max(_seconds(alarms[each]) for each in guards["AlarmNames"] if each in alarms)
        for share, minutes in _steps(deployment):
            if share < LEAST_PERCENT:
                yield name, f"moves {share:g} % of the requests, which an alarm on their slowest hundredth does not see"
            if minutes * 60 < slowest:
                yield name, f"goes on after {minutes} minutes, an alarm that would stop it looks at {slowest / 60:g}"


def healthy_hosts(template: Template) -> Iterator[Finding]:
    """After every second release the first target group is empty, and well."""
    for name, service in _gradual(template):
        for alarm, properties in of(template, ALARM):
            asked = [
                dimension["Value"]["Fn::GetAtt"][0]
                for each in properties.get("Metrics", ())
                if each.get("MetricStat", {}).get("Metric", {}).get("MetricName") == "HealthyHostCount"
                for dimension in each["MetricStat"]["Metric"]["Dimensions"]
                if dimension["Name"] == "TargetGroup"
            ]
            single = properties.get("MetricName") == "HealthyHostCount"
            if single or (asked and set(asked) != _pair(service)):
                yield alarm, f"counts the healthy tasks of one target group, {name} moves to another"


def forecasts(template: Template) -> Iterator[Finding]:
    """Predictive scaling is told one target group's requests."""
    for name, policy in of(template, "AWS::ApplicationAutoScaling::ScalingPolicy"):
        if _gradual(template) and policy.get("PolicyType") == "PredictiveScaling":
            yield name, "counts the requests of one target group, which a release moves to another"


def _gradual(template: Template) -> list[tuple[str, dict[str, Any]]]:
    services = of(template, "AWS::ECS::Service")
    return [pair for pair in services if pair[1]["DeploymentConfiguration"].get("Strategy") in GRADUAL]


def _advanced(service: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = _balancer(service).get("AdvancedConfiguration", {})
    return found


def _balancer(service: Mapping[str, Any]) -> dict[str, Any]:
    """Its first balancer's entry; empty without one."""
    found: list[dict[str, Any]] = service.get("LoadBalancers", [])
    return found[0] if found else {}


def _pair(service: Mapping[str, Any]) -> set[str]:
    """The logical names of both target groups."""
    arns = (_balancer(service).get("TargetGroupArn"), _advanced(service).get("AlternateTargetGroupArn"))
    return {each["Ref"] for each in arns if each}


def _settings(group: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in sorted(group.items()) if name != "Name"}


def _steps(deployment: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Percent and minutes of what is watched: the first share, and all of it before the tasks before end."""
    canary, linear = deployment.get("CanaryConfiguration", {}), deployment.get("LinearConfiguration", {})
    found = [(100.0, deployment.get("BakeTimeInMinutes", 0))]
    if deployment["Strategy"] == "CANARY":
        found.append((canary.get("CanaryPercent", 5.0), canary.get("CanaryBakeTimeInMinutes", 10)))
    if deployment["Strategy"] == "LINEAR":
        found.append((linear.get("StepPercent", 10.0), linear.get("StepBakeTimeInMinutes", 6)))
    return found


def _seconds(alarm: Mapping[str, Any]) -> float:
    """What an alarm looks at."""
    periods = [each["MetricStat"]["Period"] for each in alarm.get("Metrics", ()) if "MetricStat" in each]
    return float(alarm["EvaluationPeriods"] * max([*periods, alarm.get("Period", 0)]))


RULES: tuple[Callable[[Template], Iterator[Finding]], ...] = (
    target_groups,
    mover,
    room,
    watched,
    healthy_hosts,
    forecasts,
)
