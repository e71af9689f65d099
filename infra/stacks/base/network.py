"""The network: private subnets without a way to the internet, and endpoints for the AWS services in use.

A process that reads strangers' documents has no business calling out; what it needs of AWS comes through endpoints.
"""

from __future__ import annotations

from typing import Any

from aws_cdk import RemovalPolicy, aws_logs
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from infra.environments import LOG_DAYS, Environment

ENDPOINTS = {
    "EcrApi": ec2.InterfaceVpcEndpointAwsService.ECR,
    "EcrDocker": ec2.InterfaceVpcEndpointAwsService.ECR_DOCKER,
    "Ecs": ec2.InterfaceVpcEndpointAwsService.ECS,
    "EcsAgent": ec2.InterfaceVpcEndpointAwsService.ECS_AGENT,
    "EcsTelemetry": ec2.InterfaceVpcEndpointAwsService.ECS_TELEMETRY,
    "Logs": ec2.InterfaceVpcEndpointAwsService.CLOUDWATCH_LOGS,
    "Monitoring": ec2.InterfaceVpcEndpointAwsService.CLOUDWATCH_MONITORING,
    "Secrets": ec2.InterfaceVpcEndpointAwsService.SECRETS_MANAGER,
    "Ssm": ec2.InterfaceVpcEndpointAwsService.SSM,
    "SsmMessages": ec2.InterfaceVpcEndpointAwsService.SSM_MESSAGES,
    "AutoScaling": ec2.InterfaceVpcEndpointAwsService.AUTOSCALING,
}
"""AWS services that instances, agent and tasks call. S3 has a gateway, which costs nothing."""


class Network(Construct):
    """A VPC of its own."""

    endpoint_doors: ec2.SecurityGroup
    """Of the endpoints: HTTPS from inside the network."""

    def __init__(self, scope: Construct, name: str, environment: Environment) -> None:
        super().__init__(scope, name)
        self.vpc = ec2.Vpc(
            self,
            "Vpc",
            ip_addresses=ec2.IpAddresses.cidr(environment.network),
            **_zones(environment),
            nat_gateways=0,
            restrict_default_security_group=False,
            subnet_configuration=_subnets(environment),
        )
        self.vpc.add_gateway_endpoint("S3", service=ec2.GatewayVpcEndpointAwsService.S3)
        self._endpoints(environment)
        self._flow_log(environment)

    def _endpoints(self, environment: Environment) -> None:
        """One security group for all: HTTPS from inside the network."""
        self.endpoint_doors = ec2.SecurityGroup(
            self,
            "Endpoints",
            vpc=self.vpc,
            allow_all_outbound=False,
            description="AWS endpoints, from the network only",
        )
        self.endpoint_doors.add_ingress_rule(
            ec2.Peer.ipv4(environment.network), ec2.Port.tcp(443), "HTTPS from the network"
        )
        for name, service in ENDPOINTS.items():
            self.vpc.add_interface_endpoint(
                name,
                service=service,
                security_groups=[self.endpoint_doors],
                open=False,
                subnets=ec2.SubnetSelection(subnet_type=ec2.SubnetType.PRIVATE_ISOLATED),
            )

    def _flow_log(self, environment: Environment) -> None:
        logs = aws_logs.LogGroup(
            self,
            "FlowLogs",
            retention=retention(environment),
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.vpc.add_flow_log("Flow", destination=ec2.FlowLogDestination.to_cloud_watch_logs(logs))


def _zones(environment: Environment) -> dict[str, Any]:
    """The zones by name, or the region's first ones, which need not offer the instance types."""
    if environment.zones:
        return {"availability_zones": list(environment.zones)}
    return {"max_azs": environment.zone_count}


def _subnets(environment: Environment) -> list[ec2.SubnetConfiguration]:
    private = ec2.SubnetConfiguration(name="private", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED, cidr_mask=20)
    public = ec2.SubnetConfiguration(
        name="public", subnet_type=ec2.SubnetType.PUBLIC, cidr_mask=24, map_public_ip_on_launch=False
    )
    return [private, public] if environment.public else [private]


def retention(environment: Environment) -> aws_logs.RetentionDays:
    """CDK's constant for the environment's number of days."""
    names = dict(
        zip(LOG_DAYS, ("ONE_DAY", "ONE_WEEK", "TWO_WEEKS", "ONE_MONTH", "THREE_MONTHS", "ONE_YEAR"), strict=True)
    )
    return aws_logs.RetentionDays[names[environment.log_days]]
