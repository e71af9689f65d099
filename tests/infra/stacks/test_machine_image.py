"""The pipeline: what its instance may do, where it is built, when it runs, and that the fleet finds its result."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from infra.instances import GPU_IMAGE
from infra.stacks.machine_image import document, version_of
from tests.support.fleets import OPTIONS
from tests.support.stub_programs import StubPrograms
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


def test_the_building_instance_has_only_the_permissions_it_needs(machine: Template) -> None:
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


def test_it_runs_weekly_or_only_when_it_is_asked_to(machine: Template, template: Read) -> None:
    schedule = only(machine, f"{KIND}ImagePipeline")["Schedule"]
    assert schedule["PipelineExecutionStartCondition"] == "EXPRESSION_MATCH_ONLY"
    assert "Schedule" not in only(template("plain-options-machine"), f"{KIND}ImagePipeline")


def test_a_build_is_encrypted_and_ends_when_it_fails(machine: Template) -> None:
    """Image Builder's service-linked role may write parameters and logs under its own prefixes alone."""
    recipe, infrastructure = only(machine, f"{KIND}ImageRecipe"), only(machine, f"{KIND}InfrastructureConfiguration")
    assert recipe["ParentImage"] == f"ssm:{GPU_IMAGE}", "the newest at every build"
    assert all(disk["Ebs"]["Encrypted"] for disk in recipe["BlockDeviceMappings"])
    assert infrastructure["InstanceMetadataOptions"] == {"HttpTokens": "required", "HttpPutResponseHopLimit": 1}
    assert infrastructure["TerminateInstanceOnFailure"] is True
    assert infrastructure["SnsTopicArn"]
    assert only(machine, "AWS::Logs::LogGroup")["LogGroupName"].startswith("/aws/imagebuilder/")
    (noted,) = only(machine, f"{KIND}DistributionConfiguration")["Distributions"][0]["SsmParameterConfigurations"]
    assert noted["ParameterName"].startswith("/imagebuilder/")
    assert noted["DataType"] == "aws:ec2:image"
    pipeline = only(machine, f"{KIND}ImagePipeline")
    assert pipeline["ImageTestsConfiguration"]["ImageTestsEnabled"] is True
    assert pipeline["DistributionConfigurationArn"]
    component = only(machine, f"{KIND}Component")
    text, filled_in = component["Data"]["Fn::Sub"]
    assert component["Version"] == version_of(text, filled_in["WantedContainer"]), "a component never changes"
    assert len(text.encode()) <= 16_000, "Image Builder's own limit"


def scripts(text: str) -> dict[str, str]:
    """What a component's document runs in each phase."""
    return {
        phase["name"]: "\n".join(command for step in phase["steps"] for command in step["inputs"]["commands"])
        for phase in json.loads(text)["phases"]
    }


IMAGE = "111122223333.dkr.ecr.eu-central-1.amazonaws.com/images:v7"


class Builder(StubPrograms):
    """An instance's commands, with what each of them does."""

    def does(self, phase: str) -> subprocess.CompletedProcess[str]:
        """Steps one after the other, as Image Builder does; the first that fails ends it."""
        script = re.sub(r"\$\{(AWS::)?(\w+)\}", r"the-\2", scripts(document())[phase])
        script = script.replace("/var/", f"{self.folder}/var/").replace("/root/", f"{self.folder}/root/")
        return self.run("bash", "-c", script)


@pytest.fixture
def builder(tmp_path: Path) -> Builder:
    made = Builder(tmp_path)
    for name in ("dnf", "systemctl"):
        made.has(name)
    made.has("docker", '[ "$1" != login ] || cat > /dev/null')
    made.has("aws", f'case "$*" in *get-parameter*) echo {IMAGE} ;; *) echo token ;; esac')
    for left in ("var/lib/ecs/data/agent.db", "root/.docker/config.json"):
        path = tmp_path / left
        path.parent.mkdir(parents=True)
        path.write_text("mine")
    return made


def test_the_named_image_is_pulled_and_the_instance_forgotten(builder: Builder) -> None:
    done = builder.does("build")
    assert done.returncode == 0, done.stderr
    assert f"docker pull --quiet {IMAGE}" in builder.calls()
    order = [call.split()[1] for call in builder.calls() if call.startswith("docker")]
    assert order == ["login", "pull", "logout"]
    assert any("--name the-WantedContainer" in call for call in builder.calls())
    assert not (builder.folder / "var/lib/ecs/data").exists()
    assert not (builder.folder / "root/.docker/config.json").exists()
    assert "dnf" not in " ".join(builder.calls()), "the AWS CLI is there already"


@pytest.mark.parametrize("fails", ["get-parameter", "get-login-password"])
def test_without_parameter_or_token_the_build_fails(builder: Builder, fails: str) -> None:
    builder.has("aws", f'case "$*" in *{fails}*) exit 255 ;; *) echo x ;; esac')
    assert builder.does("build").returncode != 0
    assert not any(call.startswith("docker pull") for call in builder.calls())


def test_an_image_that_cannot_be_pulled_fails_the_build(builder: Builder) -> None:
    builder.has("docker", '[ "$1" != login ] || cat > /dev/null; [ "$1" != pull ]')
    assert builder.does("build").returncode != 0


@pytest.mark.parametrize("phase", ["validate", "test"])
def test_a_machine_image_without_the_image_is_not_noted(builder: Builder, phase: str) -> None:
    assert builder.does(phase).returncode == 0
    assert f"docker image inspect {IMAGE}" in builder.calls()
    builder.has("docker", '[ "$1 $2" != "image inspect" ]')
    assert builder.does(phase).returncode != 0


def test_a_version_follows_the_content_and_is_one_that_image_builder_takes() -> None:
    assert version_of("a", "b") == version_of("a", "b")
    assert len({version_of("a", "b"), version_of("ab", ""), version_of("a", "c"), version_of("a")}) == 4
    for text in ("", "a", document()):
        major, minor, patch = (int(part) for part in version_of(text).split("."))
        assert (major, minor) == (1, 0)
        assert 0 <= patch < 2**30
