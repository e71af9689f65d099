"""Each rule on what shows only in operation, shown on a real template that was spoilt in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from infra.environments import ENVIRONMENTS
from infra.stacks.operation_rules import LARGEST_BOOT_SCRIPT
from infra.stacks.template_rules import findings
from tests.support.templates import Template, resources

Read = Callable[[str], Template]
Change = Callable[[Template], object]
BASE, ECS, SPOT, PLAIN = "production-base", "production-fleet", "staging-fleet", "plain-fleet"
GROUP = "AWS::AutoScaling::AutoScalingGroup"


def first(template: Template, kind: str) -> dict[str, Any]:
    return next(iter(resources(template, kind).values()))


def name_of(template: Template, kind: str) -> str:
    return next(iter(resources(template, kind)))


def whole(template: Template, kind: str) -> dict[str, Any]:
    found: dict[str, Any] = template["Resources"][name_of(template, kind)]
    return found


def container(template: Template) -> dict[str, Any]:
    found: dict[str, Any] = first(template, "AWS::ECS::TaskDefinition")["ContainerDefinitions"][0]
    return found


def variable(name: str, value: str | None) -> Change:
    """Set or drop one environment variable of the task."""

    def change(template: Template) -> None:
        kept = [each for each in container(template)["Environment"] if each["Name"] != name]
        container(template)["Environment"] = [*kept, *([{"Name": name, "Value": value}] if value else [])]

    return change


def script(change: Callable[[str], str]) -> Change:
    def spoil(template: Template) -> None:
        for each in resources(template, "AWS::EC2::LaunchTemplate").values():
            filled = each["LaunchTemplateData"]["UserData"]["Fn::Base64"]["Fn::Sub"]
            filled[0] = change(filled[0])

    return spoil


def statements(template: Template) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = first(template, "AWS::SNS::TopicPolicy")["PolicyDocument"]["Statement"]
    return found


def without_alarm(metric: str) -> Change:
    def change(template: Template) -> None:
        for name, alarm in resources(template, "AWS::CloudWatch::Alarm").items():
            if any(
                each.get("MetricStat", {}).get("Metric", {}).get("MetricName") == metric
                for each in alarm.get("Metrics", ())
            ):
                del template["Resources"][name]

    return change


def scrapers(template: Template) -> dict[str, Any]:
    """The security group that scrapers come in by."""
    groups = resources(template, "AWS::EC2::SecurityGroup").values()
    return next(each for each in groups if "8081" in str(each.get("SecurityGroupIngress")))


def listener_rule(template: Template) -> dict[str, Any]:
    return first(template, "AWS::ElasticLoadBalancingV2::ListenerRule")


def hand_on_the_console(template: Template) -> None:
    """Let the rules that hand on `/` do so whatever the method."""
    for rule in resources(template, "AWS::ElasticLoadBalancingV2::ListenerRule").values():
        if "/" in rule["Conditions"][0]["PathPatternConfig"]["Values"]:
            rule["Conditions"] = rule["Conditions"][:1]


FORWARD = {"Type": "forward", "TargetGroupArn": "x"}
SPOILT: dict[str, tuple[str, Change, str]] = {
    "only a denial": (BASE, lambda t: statements(t).__delitem__(slice(1, None)), "no alarm arrives"),
    "another service may": (BASE, lambda t: statements(t)[1].update(Principal={"Service": "events.amazonaws.com"}),
        "no alarm arrives"),
    "a pool up to the maximum": (ECS,
        lambda t: first(t, "AWS::AutoScaling::WarmPool").update(MaxGroupPreparedCapacity=30),
        "keeps up to 30 instances, not 8"),
    "a pool without a limit": (ECS,
        lambda t: first(t, "AWS::AutoScaling::WarmPool").pop("MaxGroupPreparedCapacity"),
        "keeps up to None instances, not 8"),
    "no scraper may come": (ECS, lambda t: scrapers(t).update(SecurityGroupIngress=[]),
        "lets no scraper in on port 8081"),
    "the port is not mapped": (ECS, lambda t: container(t).update(PortMappings=container(t)["PortMappings"][:1]),
        "does not map port 8081"),
    "one port for all": (ECS, variable("GLEANER_INTERNAL_PORT", None), "on the port that the balancer reaches"),
    "the same port": (ECS, variable("GLEANER_INTERNAL_PORT", "8080"), "on the port that the balancer reaches"),
    "everybody scrapes": (ECS, lambda t: scrapers(t)["SecurityGroupIngress"][0].update(CidrIp="0.0.0.0/0"),
        "shows its metrics to everybody"),
    "callers on the operators' port": (ECS,
        lambda t: first(t, "AWS::ElasticLoadBalancingV2::TargetGroup").update(Port=8081),
        "sends callers to the operators' port"),
    "all that is asked": (ECS,
        lambda t: first(t, "AWS::ElasticLoadBalancingV2::Listener").update(DefaultActions=[FORWARD]),
        "hands on whatever is asked"),
    "metrics by a rule": (ECS,
        lambda t: listener_rule(t)["Conditions"][0]["PathPatternConfig"]["Values"].append("/metrics"),
        "hands on /metrics"),
    "every path by a rule": (ECS, lambda t: listener_rule(t).update(Conditions=[]), "hands on every path"),
    "adapters: one that is closed": (SPOT, variable("GLEANER_ADAPTERS", "oip"), "hands on /endpoints/*, /invocations"),
    "adapters: not handed on": (ECS, variable("GLEANER_ADAPTERS", "oip"), "does not hand on /v2, /v2/*"),
    "adapters: not handed on, without ECS": (PLAIN,
        script(lambda text: text.replace("GLEANER_ADAPTERS=oip", "GLEANER_ADAPTERS=presidio")), "hands on /v2, /v2/*"),
    "adapters: the console too": (SPOT, hand_on_the_console, "hands on the console"),
    "adapters: more than a rule takes": (SPOT,
        lambda t: listener_rule(t)["Conditions"][0]["PathPatternConfig"]["Values"].extend(["/v2", "/v2/*", "/"]),
        "has 6 values, of 5"),
    "the service before its balancer": (ECS,
        lambda t: whole(t, "AWS::ECS::Service")["DependsOn"].remove(
            name_of(t, "AWS::ElasticLoadBalancingV2::ListenerRule")),
        "may come before its target group"),
    "proxies: nobody is trusted": (ECS, variable("GLEANER_TRUSTED_PROXIES", None), "takes all callers for one"),
    "proxies: nobody is trusted, without ECS": (PLAIN,
        script(lambda text: text.replace("GLEANER_TRUSTED_PROXIES=", "GLEANER_OTHERS=")), "takes all callers for one"),
    "a slow rollback": (ECS, lambda t: first(t, "AWS::ECS::Service").update(HealthCheckGracePeriodSeconds=900),
        "never gets ready for 1800 s"),
    "the breaker's own threshold": (ECS,
        lambda t: first(t, "AWS::ECS::Service")["DeploymentConfiguration"]["DeploymentCircuitBreaker"].update(
            ThresholdConfiguration={"Type": "BOUNDED_PERCENT", "Value": 50}
        ) or first(t, "AWS::ECS::Service").update(HealthCheckGracePeriodSeconds=400),
        "never gets ready for 1200 s"),
    "wanted and not there": (ECS, without_alarm("RunningTaskCount"), "smaller than wanted without an alarm"),
    "wanted and not there, without ECS": (PLAIN, without_alarm("GroupInServiceInstances"),
        "smaller than wanted without an alarm"),
    "launches fail in silence": (ECS, lambda t: first(t, GROUP).pop("NotificationConfigurations"),
        "tells nobody when an instance cannot be launched"),
    "no mark": (ECS,
        lambda t: first(t, GROUP).update(Tags=[{"Key": "Name", "Value": "x", "PropagateAtLaunch": True}]),
        "has no tag AmazonECSManaged"),
    "a mark that instances do not get": (ECS,
        lambda t: first(t, GROUP).update(Tags=[{"Key": "AmazonECSManaged", "Value": "x", "PropagateAtLaunch": False}]),
        "has no tag AmazonECSManaged"),
    "guards that come later": (ECS, lambda t: whole(t, "AWS::ECS::Service")["DependsOn"].remove("LatencySlo"),
        "guarded by gleaner-production-latency-slo"),
    "a notice that nobody hears": (SPOT, script(lambda text: text.replace("spot/instance-action", "spot/nothing")),
        "does not end its task at Spot's notice"),
    "requests during the notice": (SPOT, variable("GLEANER_DRAIN_GRACE_SECONDS", "5"),
        "takes requests for 5 s of its notice"),
    "a log that dies": (ECS, script(lambda text: text.replace("put-log-events", "describe-log-groups")),
        "on a disk that goes with it"),
    "a script too long": (ECS, script(lambda text: text + "#" * LARGEST_BOOT_SCRIPT),
        f"of {LARGEST_BOOT_SCRIPT} with what is filled in"),
    "moves without room": (ECS,
        lambda t: first(t, "AWS::ECS::Service").update(AvailabilityZoneRebalancing="ENABLED"),
        "buys an instance for each move"),
    "an update that is disturbed": (PLAIN,
        lambda t: whole(t, GROUP)["UpdatePolicy"]["AutoScalingRollingUpdate"].pop("SuspendProcesses"),
        "in the middle of an update"),
}  # fmt: skip


@pytest.mark.parametrize("name", [f"{each.name}-{part}" for each in ENVIRONMENTS for part in ("base", "fleet")])
def test_the_templates_break_no_rule(template: Read, name: str) -> None:
    assert findings(template(name)) == []


@pytest.mark.parametrize("what", SPOILT)
def test_what_is_spoilt_is_found(template: Read, what: str) -> None:
    stack, change, words = SPOILT[what]
    spoilt = template(stack)
    change(spoilt)
    assert any(words in finding for finding in findings(spoilt)), findings(spoilt)
