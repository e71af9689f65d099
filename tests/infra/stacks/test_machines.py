"""Instances: their kinds and places, their image and disk, and how they get ready."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from infra.environments import Environment, Variant
from infra.stacks.container import SHARED_MEMORY_MIB
from tests.support.fleets import EACH, Read, fleet
from tests.support.templates import only, resources


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
            started = text.index("start --no-block gleaner.service")
            assert text.rindex("daemon-reload") < started, "a later one would take the GPU from it"
