"""Rules on what shows only in operation, weeks after a deployment that went well. Pure.

topic      its policy lets CloudWatch publish: any policy takes the place of the default one
groups     a warm pool of the size that is said; ECS's mark; launches that fail are reported; an update of a group is
           not disturbed; Spot's notice is heard; a boot script that fits, and whose log outlives the instance
balancer   hands on what callers may ask, and nothing else; services come after the rule that joins them to it
task       operators' routes on a port of their own, which scrapers reach; the balancer's addresses are known
service    guarded by alarms that are there before it; gives a bad release up soon; moves no task without room
fleet      an alarm for what is wanted and not there
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from infra.instances import NOTICED_SECONDS
from infra.stacks.template import Finding, Template, boot_scripts, containers, listed, of, variables
from service.signals.routes import ALWAYS_PUBLIC, PUBLIC_ADAPTERS

LARGEST_BOOT_SCRIPT = 16_384
"""Bytes of user data, before base64."""
LONGEST_TO_ROLL_BACK_SECONDS = 900
DURING_UPDATES = {"AlarmNotification", "AZRebalance", "ReplaceUnhealthy"}
LAUNCH_ERROR = "autoscaling:EC2_INSTANCE_LAUNCH_ERROR"
ECS_MARK = "AmazonECSManaged"
MOST_VALUES = 5
"""Most values of one rule of a listener, by the balancer's own limit: so each adapter has a rule of its own."""


def topics(template: Template) -> Iterator[Finding]:
    """A policy replaces the default one, under which the account's alarms may publish: to the output `AlarmTopic`."""
    alarms = template.get("Outputs", {}).get("AlarmTopic", {}).get("Value")
    for name, policy in of(template, "AWS::SNS::TopicPolicy"):
        if alarms is not None and alarms not in policy["Topics"]:
            continue
        allowed = [each for each in policy["PolicyDocument"]["Statement"] if each["Effect"] == "Allow"]
        publishers = {
            service
            for each in allowed
            if "sns:Publish" in listed(each["Action"]) and isinstance(each["Principal"], dict)
            for service in listed(each["Principal"].get("Service", []))
        }
        if "cloudwatch.amazonaws.com" not in publishers:
            yield name, "does not let CloudWatch publish, so no alarm arrives"


def warm_pool_sizes(template: Template) -> Iterator[Finding]:
    """Only where both figures are equal has the pool that size; else it is the larger less what the group wants."""
    for name, pool in of(template, "AWS::AutoScaling::WarmPool"):
        if pool.get("MaxGroupPreparedCapacity") != pool.get("MinSize"):
            yield name, f"keeps up to {pool.get('MaxGroupPreparedCapacity')} instances, not {pool.get('MinSize')}"


def groups(template: Template) -> Iterator[Finding]:
    """What a group of instances needs so that its trouble is seen."""
    managed = {
        provider["AutoScalingGroupProvider"]["AutoScalingGroupArn"].get("Ref")
        for _, provider in of(template, "AWS::ECS::CapacityProvider")
    }
    for name, group in of(template, "AWS::AutoScaling::AutoScalingGroup"):
        marks = {each["Key"] for each in group.get("Tags", ()) if each.get("PropagateAtLaunch")}
        if name in managed and ECS_MARK not in marks:
            yield name, f"has no tag {ECS_MARK}, so ECS may not manage what was launched first"
        reported = [kind for each in group.get("NotificationConfigurations", ()) for kind in each["NotificationTypes"]]
        if LAUNCH_ERROR not in reported:
            yield name, "tells nobody when an instance cannot be launched"
        policy = template["Resources"][name].get("UpdatePolicy", {}).get("AutoScalingRollingUpdate")
        if policy is not None and not set(policy.get("SuspendProcesses", ())) >= DURING_UPDATES:
            yield name, "lets alarms and rebalancing change it in the middle of an update"


def spot(template: Template) -> Iterator[Finding]:
    """At 100 % healthy ECS ends no task before another has come, and Spot's notice is shorter than that."""
    full = [each["DeploymentConfiguration"]["MinimumHealthyPercent"] for _, each in of(template, "AWS::ECS::Service")]
    scripts = dict(boot_scripts(template))
    for name, group in of(template, "AWS::AutoScaling::AutoScalingGroup"):
        mixed = group["MixedInstancesPolicy"]
        on_spot = mixed["InstancesDistribution"].get("OnDemandPercentageAboveBaseCapacity", 100) < 100
        script = scripts[mixed["LaunchTemplate"]["LaunchTemplateSpecification"]["LaunchTemplateId"]["Ref"]]
        if on_spot and max(full, default=0) >= 100 and "spot/instance-action" not in script:
            yield name, "does not end its task at Spot's notice, so requests are cut when the instance goes"
        grace = float(variables(template).get("GLEANER_DRAIN_GRACE_SECONDS", 0))
        if on_spot and grace <= NOTICED_SECONDS:
            yield name, f"takes requests for {grace:g} s of its notice, and gets them for {NOTICED_SECONDS} s"


def boots(template: Template) -> Iterator[Finding]:
    """A script that is too long is refused at deployment; one whose log stays on the disk cannot be understood."""
    for name, script in boot_scripts(template):
        if len(script.encode()) > LARGEST_BOOT_SCRIPT * 3 // 4:
            yield (
                name,
                f"has {len(script.encode())} bytes of user data, of {LARGEST_BOOT_SCRIPT} with what is filled in",
            )
        if "put-log-events" not in script:
            yield name, "leaves the log of its boot on a disk that goes with it"


def routes(template: Template) -> Iterator[Finding]:
    """Metrics, models and docs need no key, so they must not be reached through the balancer."""
    for name, listener in of(template, "AWS::ElasticLoadBalancingV2::Listener"):
        if any(each["Type"] == "forward" for each in listener["DefaultActions"]):
            yield name, "hands on whatever is asked, /metrics too"
    opened = variables(template).get("GLEANER_ADAPTERS", "none").split(",")
    adapters = [PUBLIC_ADAPTERS[each] for each in opened if each in PUBLIC_ADAPTERS]
    may_ask = {*ALWAYS_PUBLIC, *(path for adapter in adapters for path in adapter.paths)}
    handed_on = set[str]()
    for name, rule in of(template, "AWS::ElasticLoadBalancingV2::ListenerRule"):
        paths = _condition(rule, "PathPatternConfig")
        methods = _condition(rule, "HttpRequestMethodConfig")
        handed_on |= paths
        if not paths or not paths <= may_ask:
            yield name, f"hands on {', '.join(sorted(paths - may_ask)) or 'every path'}"
        if "/" in paths and methods != {"POST"}:
            yield name, "hands on the console"
        if len(paths) + len(methods) > MOST_VALUES:
            yield name, f"has {len(paths) + len(methods)} values, of {MOST_VALUES} that a rule may have"
    if handed_on and may_ask - handed_on:
        yield "balancer", f"does not hand on {', '.join(sorted(may_ask - handed_on))}, which the service answers"
    rules = {name for name, _ in of(template, "AWS::ElasticLoadBalancingV2::ListenerRule")}
    for name, _ in of(template, "AWS::ECS::Service"):
        if rules and not rules & {*listed(template["Resources"][name].get("DependsOn", []))}:
            yield name, "may come before its target group has a balancer, which ECS refuses"


def _condition(rule: dict[str, Any], kind: str) -> set[str]:
    return {value for each in rule["Conditions"] for value in each.get(kind, {}).get("Values", ())}


def ports(template: Template) -> Iterator[Finding]:
    """The operators' port: apart from the public one, open to scrapers, mapped."""
    if not of(template, "AWS::ElasticLoadBalancingV2::TargetGroup"):
        return
    settings = variables(template)
    port = int(settings.get("GLEANER_INTERNAL_PORT", 0))
    if not port or str(port) == settings.get("GLEANER_PORT"):
        yield "task", "answers /metrics on the port that the balancer reaches"
        return
    for name, container in containers(template):
        if port not in [each["ContainerPort"] for each in container["PortMappings"]]:
            yield name, f"does not map port {port}, on which its metrics are"
    for name, group in of(template, "AWS::ElasticLoadBalancingV2::TargetGroup"):
        if group["Port"] == port:
            yield name, "sends callers to the operators' port"
    open_ports = [
        (rule["FromPort"], rule.get("CidrIp"))
        for _, group in of(template, "AWS::EC2::SecurityGroup")
        for rule in group.get("SecurityGroupIngress", ())
    ]
    scrapers = [network for at, network in open_ports if at == port]
    if not scrapers:
        yield "task", f"lets no scraper in on port {port}"
    if "0.0.0.0/0" in scrapers:
        yield "task", f"shows its metrics to everybody on port {port}"


def proxies(template: Template) -> Iterator[Finding]:
    """Behind a balancer all callers have its address, unless its own are known."""
    if of(template, "AWS::ElasticLoadBalancingV2::TargetGroup") and not variables(template).get(
        "GLEANER_TRUSTED_PROXIES"
    ):
        yield "task", "takes all callers for one: it does not know the balancer's addresses"


def deployments(template: Template) -> Iterator[Finding]:
    """Guards that exist, a rollback within a quarter of an hour, and no moves without room."""
    alarms = {each.get("AlarmName"): name for name, each in of(template, "AWS::CloudWatch::Alarm")}
    targets = [
        each["AutoScalingGroupProvider"]["ManagedScaling"]["TargetCapacity"]
        for _, each in of(template, "AWS::ECS::CapacityProvider")
    ]
    for name, service in of(template, "AWS::ECS::Service"):
        deployment = service["DeploymentConfiguration"]
        first = set(listed(template["Resources"][name].get("DependsOn", [])))
        for guard in deployment.get("Alarms", {}).get("AlarmNames", ()):
            if alarms.get(guard) not in first:
                yield name, f"is guarded by {guard}, which need not be there yet"
        threshold = deployment.get("DeploymentCircuitBreaker", {}).get("ThresholdConfiguration", {})
        failures = threshold["Value"] if threshold.get("Type") == "COUNT" else 3
        seconds = failures * service.get("HealthCheckGracePeriodSeconds", 0)
        if seconds > LONGEST_TO_ROLL_BACK_SECONDS:
            yield name, f"tries a release that never gets ready for {seconds} s"
        if service.get("AvailabilityZoneRebalancing") == "ENABLED" and max(targets, default=0) >= 100:
            yield name, "moves tasks between zones, and buys an instance for each move"


def shortfalls(template: Template) -> Iterator[Finding]:
    """No capacity of a GPU type is the most frequent trouble, and silent: tasks wait, those that run are well."""
    compared = [
        {each["MetricStat"]["Metric"]["MetricName"] for each in alarm.get("Metrics", ()) if "MetricStat" in each}
        for _, alarm in of(template, "AWS::CloudWatch::Alarm")
        if alarm.get("AlarmActions")
    ]
    pairs = {
        "AWS::ECS::Service": {"DesiredTaskCount", "RunningTaskCount"},
        "AWS::AutoScaling::AutoScalingGroup": {"GroupDesiredCapacity", "GroupInServiceInstances"},
    }
    for kind, pair in pairs.items():
        for name, _ in of(template, kind):
            if pair not in compared and (kind == "AWS::ECS::Service" or not of(template, "AWS::ECS::Service")):
                yield name, "may be smaller than wanted without an alarm"


RULES: tuple[Callable[[Template], Iterator[Finding]], ...] = (
    topics,
    warm_pool_sizes,
    groups,
    spot,
    boots,
    routes,
    ports,
    proxies,
    deployments,
    shortfalls,
)
