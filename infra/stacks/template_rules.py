"""Rules for templates that no tool checks and that AWS finds late or never: a template in, findings out. Pure.

balancer   least outstanding requests without slow start; health checks answer before the next one starts;
           idle connections outlive the longest request, and the service's outlive the balancer's
task       one GPU; grace of its health check within what ECS allows; stops no sooner than its longest request;
           the balancer deregisters it before it is killed
groups     scale-in protection where ECS manages termination; two instances at least; room for a deployment
instances  IMDSv2 with one hop; encrypted disks; a launch hook, without which a warm pool stops half-booted ones
schedules  crons that AWS can read; never below two tasks
alarms     our signals by their names, on periods that CloudWatch has
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from infra.scaling.oncall_alarms import INSTANCE_DAYS
from infra.stacks import operation_rules
from infra.stacks.scaling import FIRST_TASK
from infra.stacks.template import Finding, Template, attributes, containers, longest_request_seconds, of, variables
from service.signals.catalog import SERVICE_DIMENSION, SIGNALS

LONGEST_CONTAINER_START_SECONDS = 300
PERIODS = {10, 20, 30}
PLATFORM = ("AWS/", "ECS/")
"""Namespaces of AWS's own metrics."""
_SIX_FIELDS = re.compile(r"cron\(\S+ \S+ (\S+) \S+ (\S+) \S+\)")
_FIVE_FIELDS = re.compile(r"[\d*,/-]+ [\d*,/-]+ [\d*,/-]+ [\dA-Z*,/-]+ [\dA-Z*,/-]+")


def findings(template: Template) -> list[str]:
    """A template's violations of the rules, one sentence each."""
    return [f"{name}: {problem}" for rule in RULES for name, problem in rule(template)]


def slow_start(template: Template) -> Iterator[Finding]:
    """AWS refuses slow start with least outstanding requests, but only when the stack is deployed."""
    for name, group in of(template, "AWS::ElasticLoadBalancingV2::TargetGroup"):
        found = attributes(group, "TargetGroupAttributes")
        if found.get("load_balancing.algorithm.type") != "least_outstanding_requests":
            yield name, "does not balance by least outstanding requests"
        elif int(found.get("slow_start.duration_seconds", 0)):
            yield name, "has slow start, which AWS forbids with least outstanding requests"


def health_check(template: Template) -> Iterator[Finding]:
    """A check that may last as long as the interval is refused at deployment."""
    for name, group in of(template, "AWS::ElasticLoadBalancingV2::TargetGroup"):
        if group.get("HealthCheckTimeoutSeconds", 5) >= group.get("HealthCheckIntervalSeconds", 30):
            yield name, "has a health check that may last as long as its interval"
        if group.get("HealthCheckPath") != "/readyz":
            yield name, "does not ask /readyz, so overload or a lost GPU would be judged wrongly"


def idle_connections(template: Template) -> Iterator[Finding]:
    """Timeouts must rise from request to balancer to service, so that no side closes a connection in use."""
    longest = longest_request_seconds(template)
    keep_alive = float(variables(template).get("GLEANER_KEEP_ALIVE_SECONDS", 0))
    for name, balancer in of(template, "AWS::ElasticLoadBalancingV2::LoadBalancer"):
        idle = float(attributes(balancer, "LoadBalancerAttributes").get("idle_timeout.timeout_seconds", 60))
        if idle <= longest:
            yield name, f"gives a connection up after {idle:g} s, a request may take {longest:g} s"
        if keep_alive and keep_alive <= idle:
            yield name, f"keeps connections for {idle:g} s that the service closes after {keep_alive:g} s"


def gpu(template: Template) -> Iterator[Finding]:
    """Without a GPU requirement ECS starts tasks that see no GPU, or two on one."""
    for name, container in containers(template):
        asked = {each["Type"]: each["Value"] for each in container.get("ResourceRequirements", ())}
        if asked.get("GPU") != "1":
            yield name, "asks for no GPU of its own"


def container_start(template: Template) -> Iterator[Finding]:
    """ECS refuses a task definition with a longer start period."""
    for name, container in containers(template):
        if container.get("HealthCheck", {}).get("StartPeriod", 0) > LONGEST_CONTAINER_START_SECONDS:
            yield name, f"has a start period over {LONGEST_CONTAINER_START_SECONDS} s"


def stopping(template: Template) -> Iterator[Finding]:
    """A task that is killed before its longest request ends loses it."""
    longest = longest_request_seconds(template)
    for name, container in containers(template):
        stop = container.get("StopTimeout", 30)
        if stop <= longest:
            yield name, f"is killed {stop} s after SIGTERM, a request may take {longest:g} s"
        for group, properties in of(template, "AWS::ElasticLoadBalancingV2::TargetGroup"):
            found = attributes(properties, "TargetGroupAttributes")
            delay = int(found.get("deregistration_delay.timeout_seconds", 300))
            if delay > stop:
                yield group, f"lets a task go after {delay} s, the task is killed {stop} s after SIGTERM"


def termination_protection(template: Template) -> Iterator[Finding]:
    """ECS refuses to manage the termination of instances that are not protected."""
    groups = dict(of(template, "AWS::AutoScaling::AutoScalingGroup"))
    for name, provider in of(template, "AWS::ECS::CapacityProvider"):
        managed = provider["AutoScalingGroupProvider"]
        if managed.get("ManagedTerminationProtection") != "ENABLED" or managed.get("ManagedDraining") != "ENABLED":
            yield name, "does not drain and protect instances with tasks"
        group = managed["AutoScalingGroupArn"].get("Ref")
        if not groups[group].get("NewInstancesProtectedFromScaleIn"):
            yield group, "has no scale-in protection, which managed termination protection needs"


def minimum(template: Template) -> Iterator[Finding]:
    """One instance, or one zone, may fail at any time; of none the bulk queue must ask for the first."""
    targets = of(template, "AWS::ApplicationAutoScaling::ScalableTarget")
    groups = of(template, "AWS::AutoScaling::AutoScalingGroup")
    starts_first = any(FIRST_TASK in each.get("AlarmName", "") for _, each in of(template, "AWS::CloudWatch::Alarm"))
    sizes = [(name, target["MinCapacity"]) for name, target in targets]
    for name, size in sizes or [(name, int(group["MinSize"])) for name, group in groups]:
        if size == 1 or (size < 1 and not starts_first):
            yield name, "may shrink to a single task, or to none that would come back"
    fewest = min((size for _, size in sizes), default=0)
    if groups and max(int(group["MinSize"]) for _, group in groups) < fewest:
        yield groups[0][0], "no group keeps two instances"
    for name, group in groups:
        if len(group.get("VPCZoneIdentifier", ())) < 2:
            yield name, "is in a single zone"


def room_for_deployments(template: Template) -> Iterator[Finding]:
    """One task an instance: a new one needs an instance, and permission to be one too many."""
    for name, service in of(template, "AWS::ECS::Service"):
        deployment = service["DeploymentConfiguration"]
        for _, target in of(template, "AWS::ApplicationAutoScaling::ScalableTarget"):
            fewest = max(target["MinCapacity"], 1)
            if fewest * deployment["MaximumPercent"] // 100 <= fewest:
                yield name, f"has no room for one more task within {deployment['MaximumPercent']} %"
            for group, properties in of(template, "AWS::AutoScaling::AutoScalingGroup"):
                if int(properties["MaxSize"]) <= target["MaxCapacity"]:
                    yield group, "has no instance to spare for a deployment at the fleet's maximum"
        if deployment["MinimumHealthyPercent"] < 100:
            yield name, "gives up capacity while it deploys"


def instances(template: Template) -> Iterator[Finding]:
    """Credentials out of reach of containers, and nothing readable on a disk that is thrown away."""
    for name, each in of(template, "AWS::EC2::LaunchTemplate"):
        data = each["LaunchTemplateData"]
        metadata = data.get("MetadataOptions", {})
        if metadata.get("HttpTokens") != "required" or metadata.get("HttpPutResponseHopLimit") != 1:
            yield name, "does not insist on IMDSv2 within one hop"
        if not all(disk.get("Ebs", {}).get("Encrypted") for disk in data.get("BlockDeviceMappings", [{}])):
            yield name, "has a disk that is not encrypted"


def warm_pools(template: Template) -> Iterator[Finding]:
    """Without a hook an instance is stopped in the middle of its first boot; reused ones come back with old images."""
    groups = dict(of(template, "AWS::AutoScaling::AutoScalingGroup"))
    for name, pool in of(template, "AWS::AutoScaling::WarmPool"):
        group = groups[pool["AutoScalingGroupName"]["Ref"]]
        hooks = {each["LifecycleTransition"] for each in group.get("LifecycleHookSpecificationList", ())}
        if "autoscaling:EC2_INSTANCE_LAUNCHING" not in hooks:
            yield name, "has no launch hook to wait for"
        if pool.get("InstanceReusePolicy", {}).get("ReuseOnScaleIn"):
            yield name, "takes used instances back, which ECS's agent does not survive"


def schedules(template: Template) -> Iterator[Finding]:
    """AWS answers a malformed cron when the stack is deployed; a fleet of one it does not mind at all."""
    for name, target in of(template, "AWS::ApplicationAutoScaling::ScalableTarget"):
        for action in target.get("ScheduledActions", ()):
            found = _SIX_FIELDS.fullmatch(action["Schedule"])
            if not found or (found[1] == "?") == (found[2] == "?"):
                yield name, f"{action['Schedule']} is no cron of AWS"
            if action["ScalableTargetAction"]["MinCapacity"] < 2:
                yield name, f"{action['ScheduledActionName']} leaves a single task"
    for name, action in of(template, "AWS::AutoScaling::ScheduledAction"):
        if not _FIVE_FIELDS.fullmatch(action["Recurrence"]):
            yield name, f"{action['Recurrence']} is no cron of five fields"


def alarms(template: Template) -> Iterator[Finding]:
    """An alarm on a metric that no task publishes stays silent for ever."""
    known = {signal.name for signal in (*SIGNALS, INSTANCE_DAYS)}
    for name, alarm in of(template, "AWS::CloudWatch::Alarm"):
        stats = [each["MetricStat"] for each in alarm.get("Metrics", ()) if "MetricStat" in each]
        metrics = [(each["Metric"], each["Period"]) for each in stats] or [(alarm, alarm["Period"])]
        for metric, period in metrics:
            if metric["Namespace"].startswith(PLATFORM):
                continue
            if metric["MetricName"] not in known:
                yield name, f"asks for {metric['MetricName']}, which nobody publishes"
            if [each["Name"] for each in metric.get("Dimensions", ())] != [SERVICE_DIMENSION]:
                yield name, f"does not ask by the dimension {SERVICE_DIMENSION}"
            if period not in PERIODS and period % 60:
                yield name, f"has a period of {period} s, which CloudWatch does not have"


RULES: tuple[Callable[[Template], Iterator[Finding]], ...] = (
    slow_start,
    health_check,
    idle_connections,
    gpu,
    container_start,
    stopping,
    termination_protection,
    minimum,
    room_for_deployments,
    instances,
    warm_pools,
    schedules,
    alarms,
    *operation_rules.RULES,
)
