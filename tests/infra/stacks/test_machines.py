"""Instances: their kinds and places, their image and disk, and how they get ready."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from infra.environments import Environment, Purchase, Variant
from infra.instances import GPU_IMAGE, NOTICED_SECONDS
from infra.stacks.container import SHARED_MEMORY_MIB
from infra.stacks.user_data import MOST_SCRIPT_BYTES
from tests.support.fleets import EACH, Read, fleet
from tests.support.templates import only, resources, variables


@EACH
def test_instances_have_alternatives_over_two_zones(template: Read, environment: Environment) -> None:
    for group in resources(fleet(template, environment), "AWS::AutoScaling::AutoScalingGroup").values():
        overrides = group["MixedInstancesPolicy"]["LaunchTemplate"]["Overrides"]
        assert [each["InstanceType"] for each in overrides] == ["g6.xlarge", "g5.xlarge", "g4dn.xlarge"]
        assert len(group["VPCZoneIdentifier"]) == environment.number_of_zones


@EACH
def test_instances_run_awss_gpu_image_on_an_encrypted_disk(template: Read, environment: Environment) -> None:
    """Credentials are out of reach of containers: IMDSv2, within one hop."""
    made = fleet(template, environment)
    parameter = made["Parameters"]["MachineImage"]
    assert (parameter["Type"], parameter["Default"]) == ("AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>", GPU_IMAGE)
    for each in resources(made, "AWS::EC2::LaunchTemplate").values():
        data = each["LaunchTemplateData"]
        assert data["ImageId"] == {"Ref": "MachineImage"}
        assert all(disk["Ebs"]["Encrypted"] is True for disk in data["BlockDeviceMappings"])
        metadata = data["MetadataOptions"]
        assert (metadata["HttpTokens"], metadata["HttpPutResponseHopLimit"]) == ("required", 1)


@EACH
def test_the_warm_pool_has_its_size_and_new_instances_alone(template: Read, environment: Environment) -> None:
    """Else it is the larger figure less what the group wants; ECS's agent does not survive a second life."""
    made = fleet(template, environment)
    pools = list(resources(made, "AWS::AutoScaling::WarmPool").values())
    assert len(pools) == (environment.warm_pool > 0)
    for pool in pools:
        assert pool["MinSize"] == pool["MaxGroupPreparedCapacity"] == environment.warm_pool
        assert pool["InstanceReusePolicy"]["ReuseOnScaleIn"] is False


@EACH
def test_a_group_reports_failed_launches_and_is_updated_undisturbed(template: Read, environment: Environment) -> None:
    """Without a launch hook an instance of the pool would be stopped in the middle of its first boot."""
    made = fleet(template, environment)
    for name, group in resources(made, "AWS::AutoScaling::AutoScalingGroup").items():
        hooks = {each["LifecycleTransition"] for each in group["LifecycleHookSpecificationList"]}
        assert hooks == {"autoscaling:EC2_INSTANCE_LAUNCHING"}
        (reported,) = group["NotificationConfigurations"]
        assert reported["NotificationTypes"] == ["autoscaling:EC2_INSTANCE_LAUNCH_ERROR"]
        updated = made["Resources"][name].get("UpdatePolicy", {}).get("AutoScalingRollingUpdate")
        assert (updated is not None) == (environment.variant is Variant.ASG)
        if updated is not None:
            assert {"AlarmNotification", "AZRebalance", "ReplaceUnhealthy"} <= {*updated["SuspendProcesses"]}


@EACH
def test_instances_on_spot_alone_watch_for_its_notice(template: Read, environment: Environment) -> None:
    """At 100 % healthy ECS ends no task before another has come, and the notice is shorter than that."""
    made = fleet(template, environment)
    templates = resources(made, "AWS::EC2::LaunchTemplate")
    for group in resources(made, "AWS::AutoScaling::AutoScalingGroup").values():
        mixed = group["MixedInstancesPolicy"]
        name = mixed["LaunchTemplate"]["LaunchTemplateSpecification"]["LaunchTemplateId"]["Ref"]
        script = templates[name]["LaunchTemplateData"]["UserData"]["Fn::Base64"]["Fn::Sub"][0]
        on_spot = mixed["InstancesDistribution"]["OnDemandPercentageAboveBaseCapacity"] < 100
        assert ("spot/instance-action" in script) is on_spot
        assert len(script.encode()) <= MOST_SCRIPT_BYTES
        assert "put-log-events" in script, "the log of a boot outlives its disk"
        if on_spot and environment.above_base is Purchase.SPOT:
            assert float(variables(made)["GLEANER_DRAIN_GRACE_SECONDS"]) > NOTICED_SECONDS


@EACH
def test_what_costs_has_the_tag_of_its_environment(template: Read, environment: Environment) -> None:
    tag = {"Key": "environment", "Value": environment.name}
    made = fleet(template, environment)
    for each in resources(made, "AWS::EC2::LaunchTemplate").values():
        tagged = {spec["ResourceType"]: spec["Tags"] for spec in each["LaunchTemplateData"]["TagSpecifications"]}
        assert {"volume", "network-interface"} <= {kind for kind, tags in tagged.items() if tag in tags}
    for group in resources(made, "AWS::AutoScaling::AutoScalingGroup").values():
        assert {**tag, "PropagateAtLaunch": True} in group["Tags"]
    assert tag in only(made, "AWS::ElasticLoadBalancingV2::LoadBalancer")["Tags"]


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
        assert text.count("set -e") >= 2, "of the boot and of what it installs"
        assert "docker pull" in text
        assert "complete-lifecycle-action" in text
        if environment.variant is Variant.ECS:
            for line in ("ECS_AWSVPC_BLOCK_IMDS=true", "ECS_WARM_POOLS_CHECK=true", "ECS_ENABLE_GPU_SUPPORT=true"):
                assert line in text
        else:
            for option in ("--runtime nvidia", "--network host", "--read-only", "--user 10001", "--cap-drop ALL"):
                assert option in text
            assert f"--shm-size {SHARED_MEMORY_MIB}m" in text
            assert "--gpus" not in text
            started = text.index("systemctl start --no-block ")
            assert text.rindex("daemon-reload") < started, "a later one would take the GPU from it"
            assert "gleaner.service" in text[started:]
