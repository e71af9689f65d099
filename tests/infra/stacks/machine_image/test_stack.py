"""The pipeline: what its instance may do, where it is built, when it runs, and that the fleet finds its result."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from infra.machine_images import GPU_IMAGE, Baking
from infra.stacks.template_rules import findings
from tests.support.fleets import OPTIONS
from tests.support.templates import Template, only, resources

Read = Callable[[str], Template]
KIND = "AWS::ImageBuilder::"


@pytest.fixture
def machine(template: Read) -> Template:
    return template("options-machine")


def granted(template: Template) -> dict[str, Any]:
    """Resources by action."""
    (policy,) = resources(template, "AWS::IAM::Policy").values()
    found: dict[str, Any] = {}
    for statement in policy["PolicyDocument"]["Statement"]:
        actions = statement["Action"]
        found |= dict.fromkeys(actions if isinstance(actions, list) else [actions], statement["Resource"])
    return found


def test_the_building_instance_may_pull_one_image_read_one_parameter_and_write_its_log(machine: Template) -> None:
    rights = granted(machine)
    sessions = {f"ssmmessages:{verb}{what}Channel" for verb in ("Create", "Open") for what in ("Control", "Data")}
    pulls = {"ecr:GetAuthorizationToken", "ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage"}
    assert set(rights) == {
        *sessions,
        *pulls,
        "ecr:GetDownloadUrlForLayer",
        "imagebuilder:GetComponent",
        "logs:CreateLogStream",
        "logs:PutLogEvents",
        "s3:GetObject",
        "ssm:GetParameter",
        "ssm:UpdateInstanceInformation",
    }
    assert "parameter/gleaner-options/container-image" in json.dumps(rights["ssm:GetParameter"])
    assert "ec2imagebuilder-toe-" in json.dumps(rights["s3:GetObject"])
    assert only(machine, "AWS::IAM::Role").get("ManagedPolicyArns") is None


def test_it_is_built_in_one_private_subnet_where_image_builder_is_reached(machine: Template) -> None:
    endpoint = only(machine, "AWS::EC2::VPCEndpoint")
    infrastructure = only(machine, f"{KIND}InfrastructureConfiguration")
    assert endpoint["ServiceName"]["Fn::Join"][1][-1].endswith(".imagebuilder")
    assert endpoint["SubnetIds"] == [infrastructure["SubnetId"]]
    assert endpoint["PrivateDnsEnabled"] is True
    group = only(machine, "AWS::EC2::SecurityGroup")
    assert "SecurityGroupIngress" not in group
    assert [(rule["FromPort"], rule["ToPort"]) for rule in group["SecurityGroupEgress"]] == [(443, 443)]
    assert not any(each.startswith("g") for each in infrastructure["InstanceTypes"]), "of the fleet's quota"


def test_the_fleet_starts_from_what_a_build_notes(template: Read, machine: Template) -> None:
    place = only(machine, f"{KIND}DistributionConfiguration")["Distributions"][0]
    assert place["SsmParameterConfigurations"][0]["ParameterName"] == OPTIONS.machine_image
    assert "{{ imagebuilder:buildDate }}" in place["AmiDistributionConfiguration"]["Name"]
    parameter = template("options-fleet")["Parameters"]["MachineImage"]
    assert parameter["Type"] == "AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>"
    assert parameter["Default"] == GPU_IMAGE, "until there is a first one"
    for each in resources(template("options-fleet"), "AWS::EC2::LaunchTemplate").values():
        disk = each["LaunchTemplateData"]["BlockDeviceMappings"][0]["Ebs"]
        baked = only(machine, f"{KIND}ImageRecipe")["BlockDeviceMappings"][0]["Ebs"]
        assert disk["VolumeSize"] >= baked["VolumeSize"]


def test_the_component_is_told_the_parameter_that_the_stack_writes(machine: Template) -> None:
    wanted = only(machine, "AWS::SSM::Parameter")
    _, filled_in = only(machine, f"{KIND}Component")["Data"]["Fn::Sub"]
    assert filled_in == {"WantedContainer": wanted["Name"]}
    assert {"Ref": "ImageTag"} in wanted["Value"]["Fn::Join"][1]


def test_it_runs_weekly_or_only_when_it_is_asked_to(machine: Template, tmp_path: Path) -> None:
    from infra.stacks.app import build

    schedule = only(machine, f"{KIND}ImagePipeline")["Schedule"]
    assert schedule["PipelineExecutionStartCondition"] == "EXPRESSION_MATCH_ONLY"
    build(tmp_path, (replace(OPTIONS, baking=Baking.ON_DEMAND),), nag=False).synth()
    on_demand = json.loads((tmp_path / "gleaner-options-machine.template.json").read_text())
    assert "Schedule" not in only(on_demand, f"{KIND}ImagePipeline")
    assert findings(on_demand) == []


def test_it_is_not_there_unless_it_is_asked_for(synthesized: Path) -> None:
    made = {path.name for path in synthesized.glob("*-machine.template.json")}
    assert made == {"gleaner-options-machine.template.json"}
