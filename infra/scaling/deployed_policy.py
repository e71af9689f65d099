"""The scaling policy as a fleet's template has it: what is simulated is then what runs. Pure: a template's JSON in.

It is the inverse of `stacks/fleet/ecs_scaling.py`, `stacks/fleet/machines.py` and `stacks/cloudwatch_alarms.py`, and
reads what they write and no other template.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from infra.scaling.alarm_evaluation import Alarm, Comparison, Condition, Missing, Statistic
from infra.scaling.capacity import ASSUMED, Capacity
from infra.scaling.policy import Policy, policy_for
from infra.scaling.policy_values import Limits, Schedule, Step, StepScaling, TargetTracking
from service.signals.catalog import SIGNALS, Signal

Resource = Mapping[str, Any]
_SIGNALS = {signal.name: signal for signal in SIGNALS}
_SYMBOLS = {">=": Comparison.AT_LEAST, ">": Comparison.ABOVE, "<=": Comparison.AT_MOST, "<": Comparison.BELOW}
_PERMISSION = re.compile(r"m(\d+)(?: / n\d+)? (>=|<=|>|<) (-?[\d.]+)")
_EXPRESSION = re.compile(r"IF\((?P<permission>.+), m0(?: / n0)?, -?[\d.]+\)|m0 / n0")


class BadTemplate(ValueError):
    """This is not the template of a fleet on ECS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed:
    """Scaling as an AWS template states it.

    Attributes:
        policy: its alarms, steps, tracking, limits and schedules; delays and targets are those of `capacity`.
        warm_pool: stopped instances that wait.
        target_percent: of the capacity provider: 100 keeps no spare instances.
        maximum_percent: of the wanted tasks, while a release is rolled out.
        deregistration_seconds: how long a task that ends keeps its instance at least.
        managed: whether ECS's capacity provider asks for instances; else they are asked for with their tasks.
        spot_watched: whether instances on Spot end their tasks themselves when their notice comes.
        spot_base, spot_weight: on-demand tasks before the first on Spot, and Spot's share above them.
        zones: that instances are spread over.
        max_queue_seconds, queue_limit_tokens, deadline_seconds: the tasks' own limits; infinite where there is none.
    """

    policy: Policy
    warm_pool: int
    target_percent: int
    maximum_percent: int
    deregistration_seconds: float
    spot_base: int
    spot_weight: float
    max_queue_seconds: float
    queue_limit_tokens: float
    deadline_seconds: float
    managed: bool = True
    zones: int = 2
    spot_watched: bool = True


def read_template(template: Mapping[str, Any], capacity: Capacity = ASSUMED, *, start_seconds: float) -> Deployed:
    """The scaling of the fleet in a template.

    Args:
        start_seconds: a usual start, which a template cannot know.

    Raises:
        BadTemplate: it has no service on ECS with a scaling target.
    """
    found = template.get("Resources")
    if not isinstance(found, Mapping):
        raise BadTemplate("the template has no resources")
    targets = list(_of(found, "AWS::ApplicationAutoScaling::ScalableTarget"))
    if len(targets) != 1:
        raise BadTemplate("the template is not that of a fleet on ECS: it has no scaling target")
    target = targets[0][1]
    basis = policy_for(capacity)
    scalings = dict(_of(found, "AWS::ApplicationAutoScaling::ScalingPolicy"))
    steps = list(_steps(found, scalings))
    more = tuple(step for step in steps if step.steps[-1].percent > 0)
    fewer = [step for step in steps if step.steps[-1].percent < 0]
    if not more or len(fewer) != 1:
        raise BadTemplate("the template needs steps that add tasks, and one policy that removes them")
    settings = _settings(found)
    bulk_tasks = int(settings["GLEANER_BULK_TASKS"]) if "GLEANER_BULK_QUEUE" in settings else None
    policy = replace(
        basis,
        limits=Limits(minimum_tasks=int(target["MinCapacity"]), maximum_tasks=int(target["MaxCapacity"])),
        delays=replace(basis.delays, start_seconds=start_seconds),
        scale_out=more,
        scale_in=fewer[0],
        targets=replace(basis.targets, gpu_target=_gpu_target(scalings)),
        tracking=_tracking(scalings),
        bulk_tasks=bulk_tasks,
        schedules=tuple(_schedule(each) for each in target.get("ScheduledActions", ())),
    )
    base, weight = _spot(found)
    return Deployed(
        policy=policy,
        warm_pool=sum(int(each["MinSize"]) for _, each in _of(found, "AWS::AutoScaling::WarmPool")),
        target_percent=min(_managed(found, "TargetCapacity"), default=100),
        maximum_percent=_service(found)["DeploymentConfiguration"]["MaximumPercent"],
        deregistration_seconds=_deregistration(found),
        spot_base=base,
        spot_weight=weight,
        max_queue_seconds=float(settings.get("GLEANER_MAX_QUEUE_MS", 0)) / 1000 or math.inf,
        queue_limit_tokens=float(settings.get("GLEANER_QUEUE_LIMIT_TOKENS", math.inf)),
        deadline_seconds=float(settings.get("GLEANER_DEADLINE_MS", 0)) / 1000 or math.inf,
        zones=_zones(found),
        spot_watched=not weight or "spot/instance-action" in str(found),
    )


def _of(resources: Mapping[str, Resource], kind: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    return ((name, each.get("Properties", {})) for name, each in resources.items() if each.get("Type") == kind)


def _steps(resources: Mapping[str, Resource], scalings: Mapping[str, Resource]) -> Iterator[StepScaling]:
    """The step policies with their alarms: those whose action is the policy."""
    for _, alarm in _of(resources, "AWS::CloudWatch::Alarm"):
        for action in alarm.get("AlarmActions", ()):
            name = action.get("Fn::GetAtt", [""])[0] if isinstance(action, Mapping) else ""
            configured = scalings.get(name, {}).get("StepScalingPolicyConfiguration", {})
            if configured.get("AdjustmentType") == "PercentChangeInCapacity":  # The first task's is another kind.
                yield StepScaling(
                    alarm=_alarm(scalings[name]["PolicyName"], alarm),
                    steps=tuple(_step(each) for each in configured["StepAdjustments"]),
                    at_least=configured["MinAdjustmentMagnitude"],
                    cooldown_seconds=configured["Cooldown"],
                )


def _step(found: Mapping[str, Any]) -> Step:
    lower, upper = found.get("MetricIntervalLowerBound"), found.get("MetricIntervalUpperBound")
    return Step(lower, upper, found["ScalingAdjustment"])


def _alarm(name: str, found: Mapping[str, Any]) -> Alarm:
    queries = {each["Id"]: each for each in found.get("Metrics", ())}
    comparison, threshold = Comparison(found["ComparisonOperator"]), float(found["Threshold"])
    if queries:
        first = _condition(queries, 0, comparison, threshold)
        conditions: tuple[Condition, ...] = (first, *_permissions(queries))
        period = queries["m0"]["MetricStat"]["Period"]
    else:
        conditions = (Condition(_SIGNALS[found["MetricName"]], Statistic(found["Statistic"]), comparison, threshold),)
        period = found["Period"]
    periods, needed = found["EvaluationPeriods"], found["DatapointsToAlarm"]
    return Alarm(
        name=name,
        conditions=conditions,
        periods=periods,
        period_seconds=period,
        datapoints=None if needed == periods else needed,
        missing=Missing(found["TreatMissingData"]),
        meaning=found["AlarmDescription"],
        remedy="",
    )


def _permissions(queries: Mapping[str, Resource]) -> Iterator[Condition]:
    """The other conditions, out of `IF(m1 < 1 AND m2 < 95, m0, 1.4)`."""
    matched = _EXPRESSION.fullmatch(queries["value"]["Expression"])
    if matched is None:
        raise BadTemplate(f"an alarm's expression is not known: {queries['value']['Expression']}")
    for number, symbol, bound in _PERMISSION.findall(matched["permission"] or ""):
        yield _condition(queries, int(number), _SYMBOLS[symbol], float(bound))


def _condition(queries: Mapping[str, Resource], number: int, comparison: Comparison, threshold: float) -> Condition:
    query, per = queries[f"m{number}"], queries.get(f"n{number}")
    return Condition(_signal(query), _statistic(query), comparison, threshold, _signal(per) if per else None)


def _signal(query: Resource) -> Signal:
    return _SIGNALS[query["MetricStat"]["Metric"]["MetricName"]]


def _statistic(query: Resource) -> Statistic:
    return Statistic(query["MetricStat"]["Stat"])


def _tracking(scalings: Mapping[str, Resource]) -> TargetTracking:
    for found in _targets(scalings):
        metrics = found["CustomizedMetricSpecification"].get("Metrics")
        if metrics:
            return TargetTracking(
                signal=_SIGNALS[metrics[0]["MetricStat"]["Metric"]["MetricName"]],
                target=found["TargetValue"],
                cooldown_seconds=found["ScaleOutCooldown"],
            )
    raise BadTemplate("the template has no target tracking")


def _gpu_target(scalings: Mapping[str, Resource]) -> int:
    """Of the tracking that has a plain metric; 0 without it."""
    plain = (each for each in _targets(scalings) if "MetricName" in each["CustomizedMetricSpecification"])
    return next((int(each["TargetValue"]) for each in plain), 0)


def _targets(scalings: Mapping[str, Resource]) -> Iterator[Mapping[str, Any]]:
    key = "TargetTrackingScalingPolicyConfiguration"
    return (each[key] for each in scalings.values() if each.get(key) is not None)


def _schedule(found: Resource) -> Schedule:
    cron = str(found["Schedule"]).removeprefix("cron(").removesuffix(")")
    action = found["ScalableTargetAction"]
    name, zone = found["ScheduledActionName"], found["Timezone"]
    return Schedule(name=name, cron=cron, timezone=zone, minimum_tasks=action["MinCapacity"])


def _managed(resources: Mapping[str, Resource], name: str) -> list[int]:
    providers = _of(resources, "AWS::ECS::CapacityProvider")
    return [int(each["AutoScalingGroupProvider"]["ManagedScaling"][name]) for _, each in providers]


def _service(resources: Mapping[str, Resource]) -> Mapping[str, Any]:
    return next(each for _, each in _of(resources, "AWS::ECS::Service"))


def _deregistration(resources: Mapping[str, Resource]) -> float:
    for _, each in _of(resources, "AWS::ElasticLoadBalancingV2::TargetGroup"):
        for attribute in each.get("TargetGroupAttributes", ()):
            if attribute["Key"] == "deregistration_delay.timeout_seconds":
                return float(attribute["Value"])
    return 300.0


def _zones(resources: Mapping[str, Resource]) -> int:
    """Each subnet of a group is in a zone of its own."""
    return max(len(each["VPCZoneIdentifier"]) for _, each in _of(resources, "AWS::AutoScaling::AutoScalingGroup"))


def _spot(resources: Mapping[str, Resource]) -> tuple[int, float]:
    """The tasks before the first on Spot, and Spot's part of those above."""
    strategy = _service(resources)["CapacityProviderStrategy"]
    weights = [each.get("Weight", 0) for each in strategy]
    return strategy[0].get("Base", 0), sum(weights[1:]) / sum(weights)


def _settings(resources: Mapping[str, Resource]) -> dict[str, str]:
    tasks = (task for _, task in _of(resources, "AWS::ECS::TaskDefinition"))
    containers = (container for task in tasks for container in task["ContainerDefinitions"])
    return {each["Name"]: each["Value"] for container in containers for each in container.get("Environment", ())}
