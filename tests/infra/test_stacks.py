"""The templates say what the policy says, and grant, open and keep no more than they must."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from infra.alarms import Alarm
from infra.environments import ENVIRONMENTS, Environment, Purchase, Variant, find_environment
from infra.stacks.__main__ import check, templates
from infra.stacks.alarms import expression, quiet_value
from infra.stacks.app import policy_of
from infra.stacks.ecs_fleet import MAXIMUM_PERCENT
from infra.watch import alarms_for, rollback_alarms
from service.settings import PREFIX, Settings
from tests.infra.conftest import Template, only, resources

Read = Callable[[str], Template]
EACH = pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda environment: environment.name)
ON_ECS = pytest.mark.parametrize(
    "environment", [each for each in ENVIRONMENTS if each.variant is Variant.ECS], ids=lambda each: each.name
)
WILDCARDS = {
    "ecr:GetAuthorizationToken",
    "ecs:DiscoverPollEndpoint",
    "ssm:UpdateInstanceInformation",
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
}
"""Actions that AWS gives no resource for. All others on `*` must have a condition."""


def fleet(template: Read, environment: Environment) -> Template:
    return template(f"{environment.name}-fleet")


def alarms(template: Template) -> dict[str, dict[str, Any]]:
    return {each["AlarmName"]: each for each in resources(template, "AWS::CloudWatch::Alarm").values()}


def statements(template: Template) -> list[dict[str, Any]]:
    found = resources(template, "AWS::IAM::Policy").values()
    return [each for policy in found for each in policy["PolicyDocument"]["Statement"]]


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def metrics_of(alarm: dict[str, Any]) -> list[tuple[str, str, int]]:
    stats = [each["MetricStat"] for each in alarm.get("Metrics", ()) if "MetricStat" in each]
    if stats:
        return [(each["Metric"]["MetricName"], each["Stat"], each["Period"]) for each in stats]
    statistic = alarm.get("Statistic") or alarm["ExtendedStatistic"]
    return [(alarm["MetricName"], statistic, alarm["Period"])]


@EACH
def test_every_alarm_of_the_policy_is_there_with_its_numbers(template: Read, environment: Environment) -> None:
    policy = policy_of(environment)
    found = alarms(fleet(template, environment))
    for alarm in (*alarms_for(policy), *(step.alarm for step in policy.steps)):
        made = found[f"{environment.fleet}-{alarm.name}"]
        first = alarm.conditions[0]
        assert metrics_of(made) == [
            (each.signal.name, each.statistic.value, alarm.period_seconds) for each in alarm.conditions
        ]
        assert (made["Threshold"], made["ComparisonOperator"]) == (first.threshold, first.comparison.value)
        assert (made["EvaluationPeriods"], made["DatapointsToAlarm"]) == (alarm.periods, alarm.datapoints_to_alarm)
        assert made["TreatMissingData"] == alarm.missing.value
        assert made["AlarmActions"], "an alarm without a listener"
    assert len(found) == len(alarms_for(policy)) + len(policy.steps) + 1, "and the balancer's own"


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


def _evaluate(text: str, values: list[float]) -> float:
    """The little of CloudWatch's metric mathematics that the expressions use."""
    found = re.fullmatch(r"IF\((.+), m0, (.+)\)", text)
    assert found
    condition = re.sub(r"m(\d+)", lambda name: repr(values[int(name[1])]), found[1]).replace("AND", "and")
    return values[0] if eval(condition, {}) else float(found[2])


@pytest.mark.parametrize("alarm", [step.alarm for step in policy_of(ENVIRONMENTS[0]).steps], ids=lambda a: a.name)
def test_an_expression_breaches_exactly_where_all_conditions_hold(alarm: Alarm) -> None:
    first = alarm.conditions[0]
    assert not first.comparison.holds(quiet_value(first), first.threshold)
    if len(alarm.conditions) == 1:
        return
    sides = (-0.01, 0.0, 0.01)
    for i in range(len(sides) ** len(alarm.conditions)):
        offsets = [sides[i // len(sides) ** k % len(sides)] for k in range(len(alarm.conditions))]
        values = [each.threshold + offset for each, offset in zip(alarm.conditions, offsets, strict=True)]
        holds = [each.comparison.holds(v, each.threshold) for each, v in zip(alarm.conditions, values, strict=True)]
        assert first.comparison.holds(_evaluate(expression(alarm.conditions), values), first.threshold) == all(holds)


@EACH
def test_only_actions_without_resources_are_granted_on_everything(template: Read, environment: Environment) -> None:
    found = statements(fleet(template, environment))
    assert found
    for statement in found:
        assert statement["Effect"] == "Allow"
        assert not any("*" in action for action in listed(statement["Action"])), statement
        if "*" in listed(statement["Resource"]) and "Condition" not in statement:
            assert set(listed(statement["Action"])) <= WILDCARDS, statement


@EACH
def test_nothing_may_write_to_the_model_bucket(template: Read, environment: Environment) -> None:
    granted = {action for each in statements(fleet(template, environment)) for action in listed(each["Action"])}
    assert {action for action in granted if action.startswith("s3:")} == {"s3:GetObject", "s3:ListBucket"}


@EACH
def test_no_managed_policy_is_attached(template: Read, environment: Environment) -> None:
    for name in ("base", "fleet"):
        for role in resources(template(f"{environment.name}-{name}"), "AWS::IAM::Role").values():
            assert "ManagedPolicyArns" not in role


@ON_ECS
def test_the_task_is_told_settings_that_the_service_has(template: Read, environment: Environment) -> None:
    container = only(fleet(template, environment), "AWS::ECS::TaskDefinition")["ContainerDefinitions"][0]
    values = {each["Name"]: each["Value"] for each in container["Environment"]}
    ours = {name.removeprefix(PREFIX).lower(): value for name, value in values.items() if name.startswith(PREFIX)}
    later = {"model_remote", "cloudwatch_namespace", "cloudwatch_service"}
    unknown = set(ours) - set(Settings.model_fields)
    assert unknown <= later, unknown
    known = {name: value for name, value in ours.items() if isinstance(value, str) and name in Settings.model_fields}
    settings = Settings(**known)  # type: ignore[arg-type]
    policy = policy_of(environment)
    assert settings.deadline_ms == policy.delays.longest_request_seconds * 1000
    assert settings.drain_grace_seconds + settings.drain_seconds < container["StopTimeout"]


@ON_ECS
def test_the_task_is_locked_in(template: Read, environment: Environment) -> None:
    task = only(fleet(template, environment), "AWS::ECS::TaskDefinition")
    container = task["ContainerDefinitions"][0]
    assert container["ReadonlyRootFilesystem"] is True
    assert container["User"] == "10001"
    assert container["LinuxParameters"]["Capabilities"] == {"Drop": ["ALL"]}
    assert container["MountPoints"] == [{"ContainerPath": "/models", "ReadOnly": False, "SourceVolume": "models"}]
    assert task["Volumes"] == [{"Name": "models", "Host": {"SourcePath": "/var/lib/gleaner/models"}}]
    (secret,) = container["Secrets"]
    assert secret["Name"] == "GLEANER_API_KEYS"
    assert "Fn::ImportValue" in secret["ValueFrom"], "by reference, never by value"


@ON_ECS
def test_the_service_rolls_back_by_itself(template: Read, environment: Environment) -> None:
    service = only(fleet(template, environment), "AWS::ECS::Service")
    deployment = service["DeploymentConfiguration"]
    assert deployment["DeploymentCircuitBreaker"] == {"Enable": True, "Rollback": True}
    names = {f"{environment.fleet}-{name}" for name in rollback_alarms(policy_of(environment))}
    assert set(deployment["Alarms"]["AlarmNames"]) == names <= set(alarms(fleet(template, environment)))
    assert (deployment["Alarms"]["Enable"], deployment["Alarms"]["Rollback"]) == (True, True)
    assert (deployment["MinimumHealthyPercent"], deployment["MaximumPercent"]) == (100, MAXIMUM_PERCENT)
    assert service["PlacementConstraints"] == [{"Type": "distinctInstance"}]


@ON_ECS
def test_spot_comes_above_an_on_demand_base(template: Read, environment: Environment) -> None:
    made = fleet(template, environment)
    strategy = only(made, "AWS::ECS::ClusterCapacityProviderAssociations")["DefaultCapacityProviderStrategy"]
    assert strategy[0]["Base"] == environment.limits.minimum_tasks
    groups = list(resources(made, "AWS::AutoScaling::AutoScalingGroup").values())
    spot = environment.above_base is Purchase.SPOT
    assert len(strategy) == len(groups) == (2 if spot else 1)
    shares = [
        group["MixedInstancesPolicy"]["InstancesDistribution"]["OnDemandPercentageAboveBaseCapacity"]
        for group in groups
    ]
    assert sorted(shares) == ([0, 100] if spot else [100])


@EACH
def test_instances_have_alternatives_over_two_zones(template: Read, environment: Environment) -> None:
    for group in resources(fleet(template, environment), "AWS::AutoScaling::AutoScalingGroup").values():
        overrides = group["MixedInstancesPolicy"]["LaunchTemplate"]["Overrides"]
        assert [each["InstanceType"] for each in overrides] == ["g6.xlarge", "g5.xlarge", "g4dn.xlarge"]
        assert len(group["VPCZoneIdentifier"]) == 2


@EACH
def test_instances_run_awss_gpu_image_on_an_encrypted_disk(template: Read, environment: Environment) -> None:
    made = fleet(template, environment)
    assert "/gpu/" in made["Parameters"]["MachineImage"]["Default"]
    for each in resources(made, "AWS::EC2::LaunchTemplate").values():
        assert each["LaunchTemplateData"]["BlockDeviceMappings"][0]["Ebs"]["Encrypted"] is True


@EACH
def test_user_data_is_shell_that_pulls_readies_and_leaves_nothing_unfilled(
    template: Read, environment: Environment, tmp_path: Path
) -> None:
    for each in resources(fleet(template, environment), "AWS::EC2::LaunchTemplate").values():
        text, values = each["LaunchTemplateData"]["UserData"]["Fn::Base64"]["Fn::Sub"]
        names = {name for name in re.findall(r"\$\{([^}]+)\}", text) if not name.startswith("AWS::")}
        assert names <= set(values)
        assert set(values) - names <= {"StopSeconds"}
        script = tmp_path / "user-data"
        script.write_text(re.sub(r"\$\{[^}]+\}", "filled-in", text))
        subprocess.run(["bash", "-n", str(script)], check=True)
        assert "docker pull" in text
        assert "complete-lifecycle-action" in text
        if environment.variant is Variant.ECS:
            for line in ("ECS_AWSVPC_BLOCK_IMDS=true", "ECS_WARM_POOLS_CHECK=true", "ECS_ENABLE_GPU_SUPPORT=true"):
                assert line in text
        else:
            for option in ("--gpus all", "--network host", "--read-only", "--user 10001", "--cap-drop ALL"):
                assert option in text


@EACH
def test_logs_end_some_day(template: Read, environment: Environment) -> None:
    for name in ("base", "fleet"):
        groups = resources(template(f"{environment.name}-{name}"), "AWS::Logs::LogGroup")
        assert groups
        assert all(group["RetentionInDays"] == environment.log_days for group in groups.values())


@EACH
def test_the_network_has_no_way_out_but_endpoints(template: Read, environment: Environment) -> None:
    base = template(f"{environment.name}-base")
    assert not resources(base, "AWS::EC2::NatGateway")
    assert not resources(base, "AWS::EC2::InternetGateway") or environment.public
    endpoints = [each["VpcEndpointType"] for each in resources(base, "AWS::EC2::VPCEndpoint").values()]
    assert endpoints.count("Gateway") == 1
    assert endpoints.count("Interface") == 11


@EACH
def test_buckets_are_closed_encrypted_and_the_models_versioned(template: Read, environment: Environment) -> None:
    base = template(f"{environment.name}-base")
    buckets = resources(base, "AWS::S3::Bucket")
    assert len(buckets) == 2
    for bucket in buckets.values():
        assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
        assert bucket["BucketEncryption"]
    assert sum("VersioningConfiguration" in bucket for bucket in buckets.values()) == 1
    denied = [each for each in _bucket_statements(base) if each["Effect"] == "Deny"]
    assert sum(each["Condition"] == {"Bool": {"aws:SecureTransport": "false"}} for each in denied) == 2


def _bucket_statements(base: Template) -> list[dict[str, Any]]:
    found = resources(base, "AWS::S3::BucketPolicy").values()
    return [each for policy in found for each in policy["PolicyDocument"]["Statement"]]


@EACH
def test_the_balancer_speaks_tls_only_and_to_whom_it_should(template: Read, environment: Environment) -> None:
    made = fleet(template, environment)
    listener = only(made, "AWS::ElasticLoadBalancingV2::Listener")
    assert (listener["Port"], listener["Protocol"]) == (443, "HTTPS")
    assert "TLS13" in listener["SslPolicy"]
    balancer = only(made, "AWS::ElasticLoadBalancingV2::LoadBalancer")
    assert balancer["Scheme"] == ("internet-facing" if environment.public else "internal")
    rules = [
        rule
        for group in resources(made, "AWS::EC2::SecurityGroup").values()
        for rule in group.get("SecurityGroupIngress", ())
    ]
    assert {rule["CidrIp"] for rule in rules} == set(environment.allowed_networks)


def test_cfn_lint_is_really_asked(synthesized: Path, tmp_path: Path) -> None:
    assert all(check(each, ["eu-central-1"]) == [] for each in templates(synthesized))
    spoilt = json.loads((synthesized / "gleaner-plain-base.template.json").read_text())
    next(iter(resources(spoilt, "AWS::S3::Bucket").values()))["Encryption"] = True
    path = tmp_path / "spoilt.template.json"
    path.write_text(json.dumps(spoilt))
    assert any("E3002" in problem for problem in check(path, ["eu-central-1"]))


def test_cdk_nag_and_the_validation_are_really_asked(tmp_path: Path) -> None:
    from aws_cdk import Stack
    from aws_cdk import aws_s3 as s3

    from infra.stacks.app import build

    app = build(tmp_path, environments=())
    s3.Bucket(Stack(app, "careless"), "Open")
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    assert "AwsSolutions-S1" in (tmp_path / "validation-report.json").read_text()


def test_a_placeholder_certificate_is_not_deployed() -> None:
    assert find_environment("production").is_placeholder
