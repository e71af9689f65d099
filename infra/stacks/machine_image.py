"""The stack of the pipeline: component, recipe, where it is built, where its result is noted, and when it runs.

The recipe starts from AWS's GPU image by its parameter, so that every build has the newest. Nothing of the fleet
depends on this stack: it reads the parameter that a build writes. Image Builder works under its service-linked role,
to which parameter and logs are known by the beginning of their names.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

from aws_cdk import Aws, BootstraplessSynthesizer, CfnOutput, Fn, RemovalPolicy, Stack, aws_logs
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_imagebuilder as builder
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from infra.environments import Environment
from infra.instances import BAKED_GIB, GPU_IMAGE, Baking, baked_image, wanted_container
from infra.stacks.acknowledged import MACHINE_IMAGE_REASONS, acknowledge
from infra.stacks.base import BaseStack, retention
from infra.stacks.fleet import tagged_image
from infra.stacks.roles import (
    downloads_build_tools,
    fetches_component,
    pulls_images,
    reads_parameter,
    role,
    serves_sessions,
    writes_logs,
)

BUILD_TYPES = ("m6i.xlarge", "m5.xlarge")
"""Type of the building instance, without a GPU: pulling needs none, and the quota for G instances is the fleet's."""
SUNDAYS = "cron(0 3 ? * sun *)"
ROOT_DEVICE = "/dev/xvda"
DISK: dict[str, Any] = {
    "encrypted": True,
    "volume_type": "gp3",
    "volume_size": BAKED_GIB,
    "delete_on_termination": True,
}
TEST_MINUTES = 60


class MachineImageStack(Stack):
    """A pipeline in the base's network, and the instance that it builds on."""

    def __init__(self, scope: Construct, environment: Environment, base: BaseStack) -> None:
        super().__init__(
            scope,
            f"{environment.fleet}-machine",
            synthesizer=BootstraplessSynthesizer(),
            description="Gleaner: machine images with the container image in them",
        )
        self._environment, self._base = environment, base
        self._name = f"{environment.fleet}-machine"
        self._endpoints()
        self._logs = aws_logs.LogGroup(
            self,
            "Logs",
            log_group_name=f"/aws/imagebuilder/{self._name}",
            retention=retention(environment),
            removal_policy=RemovalPolicy.DESTROY,
        )
        component = self._component()
        pipeline = builder.CfnImagePipeline(
            self,
            "Pipeline",
            name=self._name,
            image_recipe_arn=self._recipe(component).attr_arn,
            infrastructure_configuration_arn=self._infrastructure(component).attr_arn,
            distribution_configuration_arn=self._distribution().attr_arn,
            enhanced_image_metadata_enabled=False,
            image_tests_configuration=builder.CfnImagePipeline.ImageTestsConfigurationProperty(
                image_tests_enabled=True, timeout_minutes=TEST_MINUTES
            ),
            schedule=_schedule(environment.baking),
            status="ENABLED",
        )
        CfnOutput(self, "PipelineOutput", value=pipeline.attr_arn).override_logical_id("Pipeline")
        acknowledge(self, MACHINE_IMAGE_REASONS)

    def _endpoints(self) -> None:
        """A way from the building instance to AWS, and Image Builder's own endpoint, in the zone where it builds."""
        vpc = self._base.vpc
        self._subnet = vpc.isolated_subnets[0]
        self._group = ec2.SecurityGroup(
            self,
            "BuildSecurityGroup",
            vpc=vpc,
            allow_all_outbound=False,
            description="Building machine images: AWS endpoints",
        )
        self._group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(443), "AWS endpoints; there is no way further")
        ec2.InterfaceVpcEndpoint(
            self,
            "Endpoint",
            vpc=vpc,
            service=ec2.InterfaceVpcEndpointAwsService.IMAGE_BUILDER,
            security_groups=[self._base.network.endpoint_group],
            open=False,
            subnets=ec2.SubnetSelection(subnets=[self._subnet]),
        )

    def _component(self) -> builder.CfnComponent:
        self._wanted = ssm.CfnParameter(
            self,
            "Wanted",
            name=wanted_container(self._environment.fleet),
            type="String",
            value=tagged_image(self, self._base.storage.repository, "Tag of the image that is baked in"),
            description="The container image that the next machine image has in it",
        )
        text = document()
        return builder.CfnComponent(
            self,
            "Component",
            name=f"{self._name}-container",
            platform="Linux",
            version=version_of(text, str(self._wanted.name)),
            data=Fn.sub(text, {"WantedContainer": str(self._wanted.name)}),
        )

    def _recipe(self, component: builder.CfnComponent) -> builder.CfnImageRecipe:
        """Encrypted with the account's key for disks; the fleet's may be larger than this one, not smaller."""
        Recipe = builder.CfnImageRecipe  # noqa: N806
        ebs = Recipe.EbsInstanceBlockDeviceSpecificationProperty(**DISK)
        return Recipe(
            self,
            "Recipe",
            name=self._name,
            version=version_of(component.version or "", json.dumps(DISK), ROOT_DEVICE, GPU_IMAGE),
            parent_image=f"ssm:{GPU_IMAGE}",
            components=[Recipe.ComponentConfigurationProperty(component_arn=component.attr_arn)],
            block_device_mappings=[Recipe.InstanceBlockDeviceMappingProperty(device_name=ROOT_DEVICE, ebs=ebs)],
        )

    def _infrastructure(self, component: builder.CfnComponent) -> builder.CfnInfrastructureConfiguration:
        rights = [
            *pulls_images(self._base.storage.repository),
            *reads_parameter(str(self._wanted.name)),
            *fetches_component(component.attr_arn),
            *downloads_build_tools(),
            *writes_logs(self._logs),
            *serves_sessions(),
        ]
        building = role(self, "BuildRole", "ec2.amazonaws.com", rights)
        profile = iam.CfnInstanceProfile(self, "Profile", roles=[building.role_name])
        made = builder.CfnInfrastructureConfiguration(
            self,
            "Infrastructure",
            name=self._name,
            instance_profile_name=profile.ref,
            instance_types=list(BUILD_TYPES),
            instance_metadata_options=builder.CfnInfrastructureConfiguration.InstanceMetadataOptionsProperty(
                http_tokens="required", http_put_response_hop_limit=1
            ),
            security_group_ids=[self._group.security_group_id],
            subnet_id=self._subnet.subnet_id,
            sns_topic_arn=self._base.topic.topic_arn,
            terminate_instance_on_failure=True,
        )
        made.node.add_dependency(building)
        return made

    def _distribution(self) -> builder.CfnDistributionConfiguration:
        """Distribute to this region and account only, under the parameter that the fleet's `MachineImage` names."""
        Distribution = builder.CfnDistributionConfiguration  # noqa: N806
        noted = Distribution.SsmParameterConfigurationProperty(
            parameter_name=baked_image(self._environment.fleet), data_type="aws:ec2:image"
        )
        return Distribution(
            self,
            "Distribution",
            name=self._name,
            distributions=[
                Distribution.DistributionProperty(
                    region=Aws.REGION,
                    # Plain JSON to CDK, which would leave a property's names as they are in Python.
                    ami_distribution_configuration={"Name": f"{self._name} {{{{ imagebuilder:buildDate }}}}"},
                    ssm_parameter_configurations=[noted],
                )
            ],
        )


def _schedule(baking: Baking) -> builder.CfnImagePipeline.ScheduleProperty | None:
    """Every week whether or not a dependency is known to be newer: AWS's image is one that only a parameter names."""
    if baking is not Baking.WEEKLY:
        return None
    return builder.CfnImagePipeline.ScheduleProperty(
        schedule_expression=SUNDAYS, pipeline_execution_start_condition="EXPRESSION_MATCH_ONLY"
    )


SCHEMA = "1.0"
_STRICT = "set -euo pipefail\n"
_IMAGE = (
    "image=$(aws ssm get-parameter --region ${AWS::Region} --name ${WantedContainer}"
    " --query Parameter.Value --output text)\n"
)

_TOOLS = """\
# From the distribution's own repository, which is reached through the S3 endpoint.
command -v aws >/dev/null || dnf install --assumeyes --quiet awscli-2
"""

_PULL = """\
systemctl start docker
registry=${AWS::AccountId}.dkr.ecr.${AWS::Region}.${AWS::URLSuffix}
aws ecr get-login-password --region ${AWS::Region} | docker login --username AWS --password-stdin "$registry"
docker pull --quiet "$image"
docker logout "$registry"
"""

_FORGET = """\
# The agent started with this instance and may have tried to join a cluster; its copy would take itself for this one.
systemctl stop ecs || true
rm -rf /var/lib/ecs/data /var/log/ecs /root/.docker/config.json
"""

_THERE = """\
systemctl is-active --quiet docker || systemctl start docker
docker image inspect "$image" >/dev/null
"""

STEPS = {
    "build": {"Tools": _TOOLS, "Pull": _IMAGE + _PULL, "Forget": _FORGET},
    "validate": {"ImageIsThere": _IMAGE + _THERE},
    "test": {"ImageIsThere": _IMAGE + _THERE},
}


def document() -> str:
    """The component's document, JSON being YAML too. To fill in: WantedContainer."""
    phases = [
        {"name": phase, "steps": [_step(name, script) for name, script in steps.items()]}
        for phase, steps in STEPS.items()
    ]
    return json.dumps({"name": "container-image", "schemaVersion": SCHEMA, "phases": phases}, indent=1)


def version_of(*contents: str) -> str:
    """A version that follows the content: components and recipes never change, they are replaced under another version.

    Its last part is below Image Builder's limit of 2³⁰.
    """
    return f"1.0.{zlib.crc32(chr(0).join(contents).encode()) % 2**30}"


def _step(name: str, script: str) -> dict[str, object]:
    return {"name": name, "action": "ExecuteBash", "inputs": {"commands": [_STRICT + script]}}
