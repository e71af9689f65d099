"""Each rule that no tool checks, shown on a real template that was spoilt in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from infra.stacks.template_rules import findings
from tests.support.templates import Template, resources

Read = Callable[[str], Template]
ECS = "production-fleet"


def one(template: Template, kind: str) -> dict[str, Any]:
    return next(iter(resources(template, kind).values()))


def container(template: Template) -> dict[str, Any]:
    found: dict[str, Any] = one(template, "AWS::ECS::TaskDefinition")["ContainerDefinitions"][0]
    return found


def attribute(properties: dict[str, Any], of: str, key: str, value: str) -> None:
    kept = [each for each in properties[of] if each["Key"] != key]
    properties[of] = [*kept, {"Key": key, "Value": value}]


def group_attribute(template: Template, key: str, value: str) -> None:
    group = one(template, "AWS::ElasticLoadBalancingV2::TargetGroup")
    attribute(group, "TargetGroupAttributes", key, value)


def variable(template: Template, name: str, value: str) -> None:
    kept = [each for each in container(template)["Environment"] if each["Name"] != name]
    container(template)["Environment"] = [*kept, {"Name": name, "Value": value}]


def put(kind: str, *path: str | int) -> Callable[[Template, object], None]:
    """Set one place of the first resource of a kind."""

    def change(template: Template, value: object) -> None:
        place: Any = one(template, kind)
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return change


GROUP = "AWS::AutoScaling::AutoScalingGroup"
TARGET = "AWS::ApplicationAutoScaling::ScalableTarget"
CHECKED = "AWS::ElasticLoadBalancingV2::TargetGroup"
BALANCER = "AWS::ElasticLoadBalancingV2::LoadBalancer"
LAUNCH = "AWS::EC2::LaunchTemplate"
POOL = "AWS::AutoScaling::WarmPool"
SERVICE = "AWS::ECS::Service"
PROVIDER = "AWS::ECS::CapacityProvider"
ALARM = "AWS::CloudWatch::Alarm"
DATA = "LaunchTemplateData"


def spoil(change: Callable[[Template, Any], None], value: object) -> Callable[[Template], None]:
    return lambda template: change(template, value)


SPOILT: dict[str, tuple[Callable[[Template], None], str]] = {
    "slow start": (lambda t: group_attribute(t, "slow_start.duration_seconds", "60"), "slow start"),
    "round robin": (lambda t: group_attribute(t, "load_balancing.algorithm.type", "round_robin"), "least outstanding"),
    "check as long as its interval": (spoil(put(CHECKED, "HealthCheckTimeoutSeconds"), 5), "as long as its interval"),
    "check of liveness": (spoil(put(CHECKED, "HealthCheckPath"), "/livez"), "/readyz"),
    "idle time-out": (
        lambda t: attribute(one(t, BALANCER), "LoadBalancerAttributes", "idle_timeout.timeout_seconds", "60"),
        "gives a connection up after 60 s"),
    "keep-alive": (lambda t: variable(t, "GLEANER_KEEP_ALIVE_SECONDS", "75"), "the service closes after 75 s"),
    "no GPU": (lambda t: container(t).pop("ResourceRequirements"), "no GPU of its own"),
    "two GPUs": (lambda t: container(t).update(ResourceRequirements=[{"Type": "GPU", "Value": "2"}]),
        "no GPU of its own"),
    "start period": (lambda t: container(t)["HealthCheck"].update(StartPeriod=600), "start period over 300 s"),
    "stop time-out": (lambda t: container(t).update(StopTimeout=120), "killed 120 s after SIGTERM"),
    "no stop time-out": (lambda t: container(t).pop("StopTimeout"), "killed 30 s after SIGTERM"),
    "deregistration": (lambda t: group_attribute(t, "deregistration_delay.timeout_seconds", "600"),
        "lets a task go after 600 s"),
    "no protection": (spoil(put(GROUP, "NewInstancesProtectedFromScaleIn"), False), "scale-in protection"),
    "unmanaged termination": (
        spoil(put(PROVIDER, "AutoScalingGroupProvider", "ManagedTerminationProtection"), "DISABLED"),
        "drain and protect"),
    "no draining": (spoil(put(PROVIDER, "AutoScalingGroupProvider", "ManagedDraining"), "DISABLED"),
        "drain and protect"),
    "one task": (spoil(put(TARGET, "MinCapacity"), 1), "a single task"),
    "one instance": (spoil(put(GROUP, "MinSize"), "1"), "no group keeps two"),
    "one zone": (spoil(put(GROUP, "VPCZoneIdentifier"), ["subnet"]), "a single zone"),
    "no room": (spoil(put(SERVICE, "DeploymentConfiguration", "MaximumPercent"), 149), "no room for one more"),
    "no spare instance": (spoil(put(GROUP, "MaxSize"), "20"), "no instance to spare"),
    "less while deploying": (spoil(put(SERVICE, "DeploymentConfiguration", "MinimumHealthyPercent"), 50),
        "gives up capacity"),
    "IMDSv1": (spoil(put(LAUNCH, DATA, "MetadataOptions", "HttpTokens"), "optional"), "IMDSv2"),
    "two hops": (spoil(put(LAUNCH, DATA, "MetadataOptions", "HttpPutResponseHopLimit"), 2), "IMDSv2"),
    "bare disk": (spoil(put(LAUNCH, DATA, "BlockDeviceMappings", 0, "Ebs", "Encrypted"), False), "not encrypted"),
    "no hook": (spoil(put(GROUP, "LifecycleHookSpecificationList"), []), "no launch hook"),
    "reused instances": (spoil(put(POOL, "InstanceReusePolicy", "ReuseOnScaleIn"), True), "takes used instances back"),
    "cron of five fields": (spoil(put(TARGET, "ScheduledActions", 0, "Schedule"), "cron(0 7 * * MON)"),
        "no cron of AWS"),
    "cron with two days": (spoil(put(TARGET, "ScheduledActions", 0, "Schedule"), "cron(0 7 1 * MON *)"),
        "no cron of AWS"),
    "a lonely night": (spoil(put(TARGET, "ScheduledActions", 0, "ScalableTargetAction"), {"MinCapacity": 1}),
        "leaves a single task"),
}  # fmt: skip


@pytest.mark.parametrize("what", SPOILT)
def test_what_is_spoilt_is_found(template: Read, what: str) -> None:
    change, words = SPOILT[what]
    spoilt = template(ECS)
    change(spoilt)
    assert any(words in finding for finding in findings(spoilt)), findings(spoilt)


def test_deployments_need_an_extra_task_even_at_the_minimum(template: Read) -> None:
    wide = template(ECS)
    one(wide, SERVICE)["DeploymentConfiguration"]["MaximumPercent"] = 200
    assert findings(wide) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"MetricName": "QueueLength"}, "nobody publishes"),
        ({"Dimensions": [{"Name": "ServiceName", "Value": "x"}]}, "does not ask by the dimension"),
        ({"Period": 45}, "which CloudWatch does not have"),
    ],
)
def test_alarms_on_what_nobody_publishes_are_found(template: Read, change: dict[str, object], words: str) -> None:
    spoilt = template(ECS)
    alarms = resources(spoilt, ALARM).values()
    next(each for each in alarms if each.get("MetricName") == "WorkRatio").update(change)
    assert any(words in finding for finding in findings(spoilt))


def test_a_schedule_of_a_plain_group_has_five_fields(template: Read) -> None:
    spoilt = template("plain-fleet")
    action = {"Recurrence": "0 7 ? * MON-FRI *", "MinSize": 2}
    spoilt["Resources"]["At"] = {"Type": "AWS::AutoScaling::ScheduledAction", "Properties": action}
    assert findings(spoilt) == ["At: 0 7 ? * MON-FRI * is no cron of five fields"]
