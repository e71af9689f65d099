"""The service on ECS: its task, how it is rolled out and back, and what it runs on."""

from __future__ import annotations

from infra.environments import (
    LONGEST_TO_ROLL_BACK_SECONDS,
    MAXIMUM_PERCENT,
    ROOM_FOR_ONE_PERCENT,
    Environment,
    Purchase,
)
from infra.fleet_scaling import policy_of
from infra.scaling.oncall_alarms import rollback_alarms
from infra.stacks.balancer import ERRORS
from infra.stacks.container import SHARED_MEMORY_MIB
from service.environment import PREFIX
from service.settings import Settings
from tests.support.fleets import ON_ECS, Read, alarms, fleet
from tests.support.templates import attributes, only, resources


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
def test_the_health_check_asks_the_port_of_the_task(template: Read, environment: Environment) -> None:
    container = only(fleet(template, environment), "AWS::ECS::TaskDefinition")["ContainerDefinitions"][0]
    check = container["HealthCheck"]
    *command, seconds = check["Command"]
    assert command == ["CMD", "gleaner", "healthcheck", "--seconds"]
    assert float(seconds) < check["Timeout"]
    values = {each["Name"]: each["Value"] for each in container["Environment"]}
    port = values.get(f"{PREFIX}PORT", Settings().port)
    assert container["PortMappings"][0]["ContainerPort"] == int(port)


@ON_ECS
def test_the_task_is_locked_in(template: Read, environment: Environment) -> None:
    task = only(fleet(template, environment), "AWS::ECS::TaskDefinition")
    container = task["ContainerDefinitions"][0]
    assert container["ReadonlyRootFilesystem"] is True
    assert container["DockerSecurityOptions"] == ["no-new-privileges"]
    assert container["User"] == "10001"
    assert container["Memory"] == environment.task_memory_mib
    assert container["LinuxParameters"]["Capabilities"] == {"Drop": ["ALL"]}
    memory = container["LinuxParameters"]
    assert memory["SharedMemorySize"] == SHARED_MEMORY_MIB
    assert "/dev/shm" not in [mount["ContainerPath"] for mount in memory["Tmpfs"]], "sockets are apart from uploads"
    assert container["MountPoints"] == [{"ContainerPath": "/models", "ReadOnly": False, "SourceVolume": "models"}]
    assert task["Volumes"] == [{"Name": "models", "Host": {"SourcePath": "/var/lib/gleaner/models"}}]
    secrets = container.get("Secrets", [])
    assert [each["Name"] for each in secrets] == ["GLEANER_API_KEYS"] * environment.needs_api_keys
    assert all("Fn::ImportValue" in each["ValueFrom"] for each in secrets), "by reference, never by value"


@ON_ECS
def test_the_service_rolls_back_by_itself(template: Read, environment: Environment) -> None:
    service = only(fleet(template, environment), "AWS::ECS::Service")
    deployment = service["DeploymentConfiguration"]
    breaker = deployment["DeploymentCircuitBreaker"]
    assert (breaker["Enable"], breaker["Rollback"]) == (True, True)
    names = {f"{environment.fleet}-{name}" for name in (*rollback_alarms(policy_of(environment)), ERRORS)}
    assert set(deployment["Alarms"]["AlarmNames"]) == names <= set(alarms(fleet(template, environment)))
    assert (deployment["Alarms"]["Enable"], deployment["Alarms"]["Rollback"]) == (True, True)
    assert (deployment["MinimumHealthyPercent"], deployment["MaximumPercent"]) == (
        100,
        MAXIMUM_PERCENT if environment.limits.minimum_tasks else ROOM_FOR_ONE_PERCENT,
    )
    assert service["PlacementConstraints"] == [{"Type": "distinctInstance"}]


@ON_ECS
def test_more_instances_are_asked_for_once_the_last_have_an_agent(template: Read, environment: Environment) -> None:
    for each in resources(fleet(template, environment), "AWS::ECS::CapacityProvider").values():
        warmup = each["AutoScalingGroupProvider"]["ManagedScaling"]["InstanceWarmupPeriod"]
        assert 60 <= warmup <= 90 < environment.timed_delays.start_seconds


@ON_ECS
def test_spot_comes_above_an_on_demand_base(template: Read, environment: Environment) -> None:
    made = fleet(template, environment)
    on_demand, spot = only(made, "AWS::ECS::Service")["CapacityProviderStrategy"]
    assert only(made, "AWS::ECS::ClusterCapacityProviderAssociations")["DefaultCapacityProviderStrategy"] == []
    assert (on_demand["Base"], spot["Base"]) == (environment.limits.minimum_tasks, 0)
    assert (spot["Weight"] > 0) is (environment.above_base is Purchase.SPOT)
    groups = resources(made, "AWS::AutoScaling::AutoScalingGroup").values()
    shares = [
        group["MixedInstancesPolicy"]["InstancesDistribution"]["OnDemandPercentageAboveBaseCapacity"]
        for group in groups
    ]
    assert sorted(shares) == [0, 100]


@ON_ECS
def test_without_spot_its_group_stays_empty(template: Read, environment: Environment) -> None:
    """A provider with a target below 100 keeps an instance although no task asks for one."""
    made = fleet(template, environment)
    if environment.above_base is not Purchase.SPOT:
        for name, group in resources(made, "AWS::AutoScaling::AutoScalingGroup").items():
            (provider,) = [
                each["AutoScalingGroupProvider"]
                for each in resources(made, "AWS::ECS::CapacityProvider").values()
                if each["AutoScalingGroupProvider"]["AutoScalingGroupArn"] == {"Ref": name}
            ]
            target = provider["ManagedScaling"]["TargetCapacity"]
            spot = group["AutoScalingGroupName"].endswith("-spot")
            assert target == 100 - environment.spare_percent * (not spot)
            assert group["MinSize"] == ("0" if spot else str(environment.limits.minimum_tasks))


@ON_ECS
def test_a_task_has_one_gpu_and_time_to_start_and_to_stop(template: Read, environment: Environment) -> None:
    """ECS refuses a start period over 300 s; a task that is killed before its longest request ends loses it."""
    made = fleet(template, environment)
    container = only(made, "AWS::ECS::TaskDefinition")["ContainerDefinitions"][0]
    assert container["ResourceRequirements"] == [{"Type": "GPU", "Value": "1"}]
    assert container["HealthCheck"]["StartPeriod"] <= 300
    group = attributes(only(made, "AWS::ElasticLoadBalancingV2::TargetGroup"), "TargetGroupAttributes")
    longest = environment.delays.longest_request_seconds
    assert longest <= int(group["deregistration_delay.timeout_seconds"]) <= container["StopTimeout"]
    assert longest < container["StopTimeout"]


@ON_ECS
def test_ecs_ends_only_instances_without_tasks(template: Read, environment: Environment) -> None:
    """It refuses to manage the termination of instances that are not protected, or that lack its mark."""
    made = fleet(template, environment)
    groups = resources(made, "AWS::AutoScaling::AutoScalingGroup")
    for provider in resources(made, "AWS::ECS::CapacityProvider").values():
        managed = provider["AutoScalingGroupProvider"]
        assert (managed["ManagedTerminationProtection"], managed["ManagedDraining"]) == ("ENABLED", "ENABLED")
        group = groups[managed["AutoScalingGroupArn"]["Ref"]]
        assert group["NewInstancesProtectedFromScaleIn"] is True
        assert "AmazonECSManaged" in {each["Key"] for each in group["Tags"] if each["PropagateAtLaunch"]}


@ON_ECS
def test_a_fleet_from_none_begins_with_none(template: Read, environment: Environment) -> None:
    """ECS's own default is one; any other fleet's number is the scaling's alone, which a release must not change."""
    service = only(fleet(template, environment), "AWS::ECS::Service")
    assert service.get("DesiredCount") == (None if environment.limits.minimum_tasks else 0)


@ON_ECS
def test_a_deployment_has_room_for_one_more_task(template: Read, environment: Environment) -> None:
    """A new task needs an instance, and permission to be one too many."""
    made, limits = fleet(template, environment), environment.limits
    fewest = max(limits.minimum_tasks, 1)
    maximum_percent = only(made, "AWS::ECS::Service")["DeploymentConfiguration"]["MaximumPercent"]
    assert fewest * maximum_percent // 100 > fewest
    groups = resources(made, "AWS::AutoScaling::AutoScalingGroup").values()
    running = 1 - environment.spare_percent / 100
    assert all(int(each["MaxSize"]) * running >= limits.maximum_tasks * MAXIMUM_PERCENT / 100 for each in groups)
    assert max(int(each["MinSize"]) for each in groups) == limits.minimum_tasks


@ON_ECS
def test_a_release_is_guarded_from_the_start_and_given_up_soon(template: Read, environment: Environment) -> None:
    """The alarms that guard it, and the rules that join its target group to the balancer, are there before it."""
    made = fleet(template, environment)
    ((name, service),) = resources(made, "AWS::ECS::Service").items()
    deployment, first = service["DeploymentConfiguration"], {*made["Resources"][name]["DependsOn"]}
    names = {each["AlarmName"]: key for key, each in resources(made, "AWS::CloudWatch::Alarm").items()}
    assert {names[guard] for guard in deployment["Alarms"]["AlarmNames"]} <= first
    assert first & resources(made, "AWS::ElasticLoadBalancingV2::ListenerRule").keys()
    threshold = deployment["DeploymentCircuitBreaker"]["ThresholdConfiguration"]
    assert threshold["Type"] == "COUNT"
    assert threshold["Value"] * service["HealthCheckGracePeriodSeconds"] <= LONGEST_TO_ROLL_BACK_SECONDS
    moves = "ENABLED" if environment.spare_percent else "DISABLED"
    assert service["AvailabilityZoneRebalancing"] == moves, "without a spare instance each move buys one"
