"""The stack of either fleet: parameters, logs, balancer, security groups, and the on-call alarms."""

from __future__ import annotations

from aws_cdk import BootstraplessSynthesizer, CfnOutput, CfnParameter, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_elasticloadbalancingv2 as elb
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.environments import Environment
from infra.instances import GPU_IMAGE
from infra.scaling.oncall_alarms import Shortfall, alarms_for
from infra.scaling.policy import Policy
from infra.stacks.balancer import Balancer
from infra.stacks.base import BaseStack, retention
from infra.stacks.cloudwatch_alarms import alarm, shortfall_alarm
from infra.stacks.cloudwatch_dashboard import dashboard
from infra.stacks.roles import Statements, works_on_bulk_jobs


class Fleet(Stack):
    """The common part of both fleets; `EcsFleet` and `AsgFleet` add what starts the containers."""

    def __init__(
        self, scope: Construct, environment: Environment, policy: Policy, base: BaseStack, targets: elb.TargetType
    ) -> None:
        super().__init__(
            scope,
            f"{environment.fleet}-fleet",
            synthesizer=BootstraplessSynthesizer(),
            description=f"Gleaner: the fleet ({environment.variant.value})",
        )
        self.environment_values, self.policy, self.base = environment, policy, base
        tag = CfnParameter(
            self,
            "ImageTag",
            type="String",
            description="Tag of the image in the repository",
            allowed_pattern=r"[\w.-]{1,128}",
        )
        self.image = f"{base.storage.repository.repository_uri}:{tag.value_as_string}"
        self.machine_image = CfnParameter(
            self,
            "MachineImage",
            type="AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>",
            default=GPU_IMAGE,
            description="SSM parameter of the instances' machine image, read anew by each deployment",
        ).value_as_string
        self.logs = logs.LogGroup(self, "Logs", retention=retention(environment), removal_policy=RemovalPolicy.DESTROY)
        self.balancer = Balancer(
            self, "Front", environment, policy,
            vpc=base.vpc, subnets=base.network.public or base.network.private,
            access_logs=base.storage.access_logs, target_type=targets,
        )  # fmt: skip
        self.balancer.alarms(environment, base.topic)
        self.scrapers = (environment.network, *environment.scrape_networks)
        self.alarms = {
            each.name: alarm(self, environment.fleet, each, [base.topic.topic_arn], notify=True)
            for each in alarms_for(policy)
        }
        output = CfnOutput(self, "EndpointOutput", value=self.balancer.balancer.load_balancer_dns_name)
        output.override_logical_id("Endpoint")

    @property
    def bulk_permissions(self) -> Statements:
        """Permissions of a task for bulk jobs; none without them."""
        jobs, bulk = self.environment_values.bulk, self.base.bulk
        if jobs is None or bulk is None:
            return []
        arns = {"queue_arn": bulk.queue.queue_arn, "dead_letters_arn": bulk.dead_letters.queue_arn}
        return works_on_bulk_jobs(jobs, **arns, topic_arn=bulk.topic.topic_arn)

    def watch(self, shortfall: Shortfall) -> None:
        """The alarm for what is wanted and not there, and the dashboard with it and all others that call somebody."""
        fleet, topic = self.environment_values.fleet, self.base.topic.topic_arn
        missing = shortfall_alarm(self, fleet, shortfall, [topic])
        alarms = [*self.alarms.values(), self.balancer.too_few, self.balancer.server_errors, missing]
        dashboard(self, fleet, self.policy, shortfall, alarms)

    def closed_group(self, name: str, description: str) -> ec2.SecurityGroup:
        """A security group that lets HTTPS out (AWS's endpoints) and nothing in."""
        group = ec2.SecurityGroup(self, name, vpc=self.base.vpc, allow_all_outbound=False, description=description)
        group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(443), "AWS endpoints; there is no way further")
        return group
