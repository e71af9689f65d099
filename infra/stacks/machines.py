"""A group of one-GPU instances: launch template, Auto Scaling group, launch hook, warm pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from aws_cdk import CfnTag, Fn
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.environments import Purchase
from infra.stacks.base import ENVIRONMENT_TAG
from infra.stacks.user_data import HOOK

BOOT_LIMIT_SECONDS = 900
ECS_MARK = "AmazonECSManaged"
LAUNCH_ERROR = "autoscaling:EC2_INSTANCE_LAUNCH_ERROR"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSpec:
    """Sizes and options of one group.

    Attributes:
        scale_in_protection: True where ECS manages termination; such a group also carries the tag that ECS looks for.
        launch_errors_to: ARN of the topic that hears of instances that could not be launched.
        environment: value of the tag that instances, disks and network interfaces carry.
    """

    name: str
    environment: str
    instance_types: tuple[str, ...]
    purchase: Purchase
    minimum: int
    maximum: int
    warm_pool: int
    volume_gib: int
    scale_in_protection: bool
    launch_errors_to: str
    target_groups: list[str] = field(default_factory=list)
    health_check: str = "EC2"
    grace_seconds: int = 0


class Machines(Construct):
    """One Auto Scaling group over the fleet's subnets."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        spec: GroupSpec,
        *,
        subnets: Sequence[ec2.Subnet],
        image_id: str,
        role: iam.Role,
        security_group: ec2.SecurityGroup,
        user_data: str,
        filled_in: dict[str, str],
    ) -> None:
        super().__init__(scope, name)
        profile = iam.CfnInstanceProfile(self, "Profile", roles=[role.role_name])
        script = Fn.base64(Fn.sub(user_data, {**filled_in, "Group": spec.name}))
        self.template = ec2.CfnLaunchTemplate(
            self,
            "Template",
            launch_template_data=_template(spec, image_id, profile.attr_arn, security_group.security_group_id, script),
        )
        self.group = autoscaling.CfnAutoScalingGroup(
            self,
            "Group",
            auto_scaling_group_name=spec.name,
            min_size=str(spec.minimum),
            max_size=str(spec.maximum),
            vpc_zone_identifier=[subnet.subnet_id for subnet in subnets],
            mixed_instances_policy=_mixture(spec, self.template),
            new_instances_protected_from_scale_in=spec.scale_in_protection,
            capacity_rebalance=spec.purchase is Purchase.SPOT,
            health_check_type=spec.health_check,
            health_check_grace_period=spec.grace_seconds,
            target_group_arns=spec.target_groups or None,
            lifecycle_hook_specification_list=[_hook()],
            metrics_collection=[autoscaling.CfnAutoScalingGroup.MetricsCollectionProperty(granularity="1Minute")],
            notification_configurations=[_launch_errors(spec)],
            tags=_tags(spec),
        )
        self.group.node.add_dependency(role)
        if spec.warm_pool:
            # The pool has this size only if both figures are equal; else it is what the group lacks to the second one.
            autoscaling.CfnWarmPool(
                self,
                "WarmPool",
                auto_scaling_group_name=self.group.ref,
                min_size=spec.warm_pool,
                max_group_prepared_capacity=spec.warm_pool,
                pool_state="Stopped",
                instance_reuse_policy=autoscaling.CfnWarmPool.InstanceReusePolicyProperty(reuse_on_scale_in=False),
            )


def _template(
    spec: GroupSpec, image_id: str, profile_arn: str, security_group: str, script: str
) -> ec2.CfnLaunchTemplate.LaunchTemplateDataProperty:
    Template = ec2.CfnLaunchTemplate  # noqa: N806
    disk = Template.EbsProperty(
        encrypted=True, volume_type="gp3", volume_size=spec.volume_gib, throughput=500, delete_on_termination=True
    )
    return Template.LaunchTemplateDataProperty(
        image_id=image_id,
        instance_type=spec.instance_types[0],
        iam_instance_profile=Template.IamInstanceProfileProperty(arn=profile_arn),
        security_group_ids=[security_group],
        block_device_mappings=[Template.BlockDeviceMappingProperty(device_name="/dev/xvda", ebs=disk)],
        metadata_options=Template.MetadataOptionsProperty(
            http_endpoint="enabled", http_tokens="required", http_put_response_hop_limit=1
        ),
        monitoring=Template.MonitoringProperty(enabled=True),
        user_data=script,
        tag_specifications=[
            Template.TagSpecificationProperty(
                resource_type=kind,
                tags=[CfnTag(key="Name", value=spec.name), CfnTag(key=ENVIRONMENT_TAG, value=spec.environment)],
            )
            for kind in ("volume", "network-interface")
        ],
    )


def _mixture(
    spec: GroupSpec, template: ec2.CfnLaunchTemplate
) -> autoscaling.CfnAutoScalingGroup.MixedInstancesPolicyProperty:
    """Alternatives in the order of preference; Spot where most capacity is to be had, so that it stays."""
    Group = autoscaling.CfnAutoScalingGroup  # noqa: N806
    specification = Group.LaunchTemplateSpecificationProperty(
        launch_template_id=template.ref, version=template.attr_latest_version_number
    )
    overrides = [Group.LaunchTemplateOverridesProperty(instance_type=each) for each in spec.instance_types]
    return Group.MixedInstancesPolicyProperty(
        launch_template=Group.LaunchTemplateProperty(launch_template_specification=specification, overrides=overrides),
        instances_distribution=Group.InstancesDistributionProperty(
            on_demand_allocation_strategy="prioritized",
            on_demand_base_capacity=0,
            on_demand_percentage_above_base_capacity=0 if spec.purchase is Purchase.SPOT else 100,
            spot_allocation_strategy="price-capacity-optimized",
        ),
    )


def _tags(spec: GroupSpec) -> list[autoscaling.CfnAutoScalingGroup.TagPropertyProperty]:
    """The name; and ECS's mark, which instances lack that were launched before the capacity provider existed."""
    marks = {"Name": spec.name, **({ECS_MARK: "true"} if spec.scale_in_protection else {})}
    Tag = autoscaling.CfnAutoScalingGroup.TagPropertyProperty  # noqa: N806
    return [Tag(key=key, value=value, propagate_at_launch=True) for key, value in marks.items()]


def _launch_errors(spec: GroupSpec) -> autoscaling.CfnAutoScalingGroup.NotificationConfigurationProperty:
    """No capacity, no quota: Auto Scaling says so with its own role, which may publish to the account's topics."""
    return autoscaling.CfnAutoScalingGroup.NotificationConfigurationProperty(
        topic_arn=spec.launch_errors_to, notification_types=[LAUNCH_ERROR]
    )


def _hook() -> autoscaling.CfnAutoScalingGroup.LifecycleHookSpecificationProperty:
    """The launch hook: an instance that has not completed it in time is abandoned and replaced."""
    return autoscaling.CfnAutoScalingGroup.LifecycleHookSpecificationProperty(
        lifecycle_hook_name=HOOK,
        lifecycle_transition="autoscaling:EC2_INSTANCE_LAUNCHING",
        heartbeat_timeout=BOOT_LIMIT_SECONDS,
        default_result="ABANDON",
    )
