"""The base stack: network, repository, buckets, keys and alarm topic, which images, models and fleets need first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import ip_network
from typing import Any

from aws_cdk import Aws, BootstraplessSynthesizer, CfnOutput, Duration, RemovalPolicy, SecretValue, Stack, aws_logs
from aws_cdk import aws_budgets as budgets
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secrets
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.bulk_jobs import BulkJobs
from infra.edits import DEPLOYED
from infra.environments import LOG_DAYS, Environment, Variant
from infra.stacks.acknowledged import BASE_REASONS, acknowledge
from infra.stacks.bulk import BulkQueue
from infra.stacks.roles import RESULT_ACTIONS, bucket_arn

ENVIRONMENT_TAG = "environment"
"""Tag of everything that costs: bills and budgets are by its value."""


def models_export(environment: Environment) -> str:
    """The name of the export that holds the model bucket's ARN."""
    return f"{environment.fleet}-models-arn"


class BaseStack(Stack):
    """Network, storage, the keys' secret and the topic of the alarms."""

    def __init__(self, scope: Construct, environment: Environment, zones: Sequence[str]) -> None:
        super().__init__(
            scope,
            f"{environment.fleet}-base",
            synthesizer=BootstraplessSynthesizer(),
            description="Gleaner: network, image repository, model bucket",
        )
        self.bulk: BulkQueue | None = None
        self.add_metadata(DEPLOYED, {**environment.made_once, "zones": [*zones]})
        self.storage = Storage(self, "Storage", environment)
        self.network = Network(self, "Network", environment, zones, self.storage.models.bucket_arn)
        self.vpc = self.network.vpc
        self.topic = self._topic(environment)
        if environment.bulk is not None:
            self.bulk = BulkQueue(self, "Bulk", environment.fleet, environment.bulk, self.topic)
            for name, value in {"BulkQueue": self.bulk.queue.queue_url, "BulkTopic": self.bulk.topic.topic_arn}.items():
                CfnOutput(self, f"{name}Output", value=value).override_logical_id(name)
        if environment.monthly_dollars is not None:
            self._budget(environment.name, environment.monthly_dollars)
        self.keys = secrets.Secret(
            self,
            "ApiKeys",
            description="Lines of: client sha256-of-its-key. Put them in before the fleet starts.",
            secret_string_value=SecretValue.unsafe_plain_text("# none yet"),
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.models_arn = str(self.export_value(self.storage.models.bucket_arn, name=models_export(environment)))
        for name, value in {
            "Repository": self.storage.repository.repository_uri,
            "ModelBucket": self.storage.models.bucket_name,
            "ApiKeysSecret": self.keys.secret_arn,
            "AlarmTopic": self.topic.topic_arn,
        }.items():
            CfnOutput(self, f"{name}Output", value=value).override_logical_id(name)
        acknowledge(self, BASE_REASONS)

    def _budget(self, name: str, dollars: int) -> None:
        """Warn of a month's passed or failing budget. The tag must be one of the account's cost allocation tags."""
        told = [budgets.CfnBudget.SubscriberProperty(subscription_type="SNS", address=self.topic.topic_arn)]
        budgets.CfnBudget(
            self,
            "Budget",
            budget=budgets.CfnBudget.BudgetDataProperty(
                budget_type="COST",
                time_unit="MONTHLY",
                budget_limit=budgets.CfnBudget.SpendProperty(amount=dollars, unit="USD"),
                cost_filters={"TagKeyValue": [f"user:{ENVIRONMENT_TAG}${name}"]},
            ),
            notifications_with_subscribers=[
                budgets.CfnBudget.NotificationWithSubscribersProperty(
                    notification=budgets.CfnBudget.NotificationProperty(
                        notification_type=kind, comparison_operator="GREATER_THAN", threshold=100
                    ),
                    subscribers=told,
                )
                for kind in ("ACTUAL", "FORECASTED")
            ],
        ).node.add_dependency(self.topic.node.find_child("Policy"))

    def _topic(self, environment: Environment) -> sns.Topic:
        """The topic of the alarms. Its policy takes the place of the default one, so it must name CloudWatch."""
        topic = sns.Topic(self, "Alarms", enforce_ssl=True)
        alarms = f"arn:{Aws.PARTITION}:cloudwatch:{Aws.REGION}:{Aws.ACCOUNT_ID}:alarm:*"
        of_alarms = {"ArnLike": {"aws:SourceArn": alarms}}
        for name, service, more in (("AlarmsPublish", "cloudwatch", of_alarms), ("BudgetPublishes", "budgets", {})):
            topic.add_to_resource_policy(
                iam.PolicyStatement(
                    sid=name,
                    principals=[iam.ServicePrincipal(f"{service}.amazonaws.com")],
                    actions=["sns:Publish"],
                    resources=[topic.topic_arn],
                    conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}, **more},
                )
            )
        if environment.alarm_email:
            topic.add_subscription(subscriptions.EmailSubscription(environment.alarm_email))
        return topic


ENDPOINTS = {
    "EcrApi": ec2.InterfaceVpcEndpointAwsService.ECR,
    "EcrDocker": ec2.InterfaceVpcEndpointAwsService.ECR_DOCKER,
    "Logs": ec2.InterfaceVpcEndpointAwsService.CLOUDWATCH_LOGS,
    "Monitoring": ec2.InterfaceVpcEndpointAwsService.CLOUDWATCH_MONITORING,
    "Secrets": ec2.InterfaceVpcEndpointAwsService.SECRETS_MANAGER,
    "Ssm": ec2.InterfaceVpcEndpointAwsService.SSM,
    "SsmMessages": ec2.InterfaceVpcEndpointAwsService.SSM_MESSAGES,
    "AutoScaling": ec2.InterfaceVpcEndpointAwsService.AUTOSCALING,
}
"""AWS services that instances and tasks call. S3 has a gateway, which costs nothing."""
ECS_ENDPOINTS = {
    "Ecs": ec2.InterfaceVpcEndpointAwsService.ECS,
    "EcsAgent": ec2.InterfaceVpcEndpointAwsService.ECS_AGENT,
    "EcsTelemetry": ec2.InterfaceVpcEndpointAwsService.ECS_TELEMETRY,
}
"""AWS services that ECS's agent calls."""
BULK_ENDPOINTS = {"Queues": ec2.InterfaceVpcEndpointAwsService.SQS, "Topics": ec2.InterfaceVpcEndpointAwsService.SNS}
"""AWS services that tasks call for bulk jobs."""
WITHOUT_POLICY = ("EcsAgent", "EcsTelemetry")
"""Endpoints for which AWS refuses a policy; they carry the ECS agent's own protocol, no data of ours."""
PACKAGES = [
    f"arn:{Aws.PARTITION}:s3:::{name}/*"
    for name in (f"prod-{Aws.REGION}-starport-layer-bucket", f"al2023-repos-{Aws.REGION}-de612dc2")
]
"""Objects of AWS's own buckets: the layers of ECR's images and Amazon Linux's packages."""


class Network(Construct):
    """A VPC of its own, with subnets in each zone that it is given: so the fleet may change its zones, the first ones.

    A subnet's name and addresses follow from its zone's letter, so that no edit moves one: CloudFormation would make
    the new one first, among the addresses of the old.

    Attributes:
        private: subnets of the fleet and the endpoints.
        public: subnets of a public balancer; none without.
    """

    endpoint_group: ec2.SecurityGroup
    """Security group of the endpoints: HTTPS from inside the network."""

    def __init__(
        self, scope: Construct, name: str, environment: Environment, zones: Sequence[str], models_arn: str
    ) -> None:
        super().__init__(scope, name)
        self.vpc = ec2.Vpc(
            self,
            "Vpc",
            ip_addresses=ec2.IpAddresses.cidr(environment.network),
            restrict_default_security_group=False,
            subnet_configuration=[],
        )
        used = environment.number_of_zones
        private = [
            ec2.PrivateSubnet(self, f"Private{each[-1].upper()}", **self._place(environment, each, 4, 0))
            for each in zones
        ]
        self.private: list[ec2.Subnet] = [*private[:used]]
        self.public: list[ec2.Subnet] = []
        if environment.public:
            gateway = ec2.CfnInternetGateway(self, "Gateway")
            joined = ec2.CfnVPCGatewayAttachment(
                self, "Attachment", vpc_id=self.vpc.vpc_id, internet_gateway_id=gateway.ref
            )
            for each in zones:
                subnet = ec2.PublicSubnet(self, f"Public{each[-1].upper()}", **self._place(environment, each, 7, 64))
                subnet.add_default_internet_route(gateway.ref, joined)
                self.public.append(subnet)
            del self.public[used:]
        bucket_gateway = self.vpc.add_gateway_endpoint(
            "S3", service=ec2.GatewayVpcEndpointAwsService.S3, subnets=[ec2.SubnetSelection(subnets=private)]
        )
        for statement in _bucket_statements(models_arn, environment.bulk):
            bucket_gateway.add_to_policy(statement)
        self._endpoints(environment)
        self._flow_log(environment)

    def _place(self, environment: Environment, zone: str, bits: int, first: int) -> dict[str, Any]:
        """A subnet's zone and addresses: of the blocks whose masks are so much longer, the one of the zone's letter."""
        blocks = [*ip_network(environment.network).subnets(bits)]
        block = blocks[first + ord(zone[-1]) - ord("a")]
        place = {"availability_zone": zone, "cidr_block": str(block), "vpc_id": self.vpc.vpc_id}
        return {**place, "map_public_ip_on_launch": False}

    def _endpoints(self, environment: Environment) -> None:
        """One security group for all: HTTPS from inside the network; and one policy: this account's identities alone.

        With an attacker's own keys nothing can be sent into an account of theirs.
        """
        self.endpoint_group = ec2.SecurityGroup(
            self,
            "Endpoints",
            vpc=self.vpc,
            allow_all_outbound=False,
            description="AWS endpoints, from the network only",
        )
        self.endpoint_group.add_ingress_rule(
            ec2.Peer.ipv4(environment.network), ec2.Port.tcp(443), "HTTPS from the network"
        )
        ecs = ECS_ENDPOINTS if environment.variant is Variant.ECS else {}
        for name, service in (ENDPOINTS | ecs | (BULK_ENDPOINTS if environment.bulk else {})).items():
            endpoint = self.vpc.add_interface_endpoint(
                name,
                service=service,
                security_groups=[self.endpoint_group],
                open=False,
                subnets=ec2.SubnetSelection(subnets=self.private),
            )
            if name not in WITHOUT_POLICY:
                own = {"StringEquals": {"aws:PrincipalAccount": Aws.ACCOUNT_ID}}
                endpoint.add_to_policy(_anybody(["*"], ["*"], own))

    def _flow_log(self, environment: Environment) -> None:
        logs = aws_logs.LogGroup(
            self, "FlowLogs", retention=retention(environment), removal_policy=RemovalPolicy.DESTROY
        )
        self.vpc.add_flow_log("Flow", destination=ec2.FlowLogDestination.to_cloud_watch_logs(logs))


def _bucket_statements(models_arn: str, jobs: BulkJobs | None) -> list[iam.PolicyStatement]:
    """Statements of the S3 gateway: no bucket but these is read, and nothing is written but results of bulk jobs.

    Layers are read by ECR's presigned URLs and packages without any signature, so no identity can be asked for.
    """
    buckets = [models_arn, *(bucket_arn(each) for each in ((jobs.source, jobs.target) if jobs else ()))]
    reads = [_anybody(["s3:GetObject", "s3:ListBucket"], [part for arn in buckets for part in (arn, f"{arn}/*")])]
    packages = [_anybody(["s3:GetObject"], PACKAGES)]
    if jobs is None:
        return reads + packages
    return [*reads, *packages, _anybody(RESULT_ACTIONS, [f"{bucket_arn(jobs.target)}/{jobs.target.prefix}*"])]


def _anybody(
    actions: list[str], resources: list[str], conditions: Mapping[str, object] | None = None
) -> iam.PolicyStatement:
    """A statement of an endpoint's policy, which bounds what an identity's own policies allow."""
    return iam.PolicyStatement(
        principals=[iam.AnyPrincipal()], actions=actions, resources=resources, conditions=conditions
    )


def retention(environment: Environment) -> aws_logs.RetentionDays:
    """CDK's constant for the environment's number of days."""
    names = dict(
        zip(LOG_DAYS, ("ONE_DAY", "ONE_WEEK", "TWO_WEEKS", "ONE_MONTH", "THREE_MONTHS", "ONE_YEAR"), strict=True)
    )
    return aws_logs.RetentionDays[names[environment.log_days]]


IMAGES_KEPT = 20
"""Images that the registry keeps, one a release."""


class Storage(Construct):
    """Buckets and repository of one environment."""

    def __init__(self, scope: Construct, name: str, environment: Environment) -> None:
        super().__init__(scope, name)
        self.access_logs = self._access_logs(environment)
        self.models = s3.Bucket(
            self,
            "Models",
            encryption=s3.BucketEncryption.S3_MANAGED,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            versioned=True,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            server_access_logs_bucket=self.access_logs,
            server_access_logs_prefix="models/",
            lifecycle_rules=[
                s3.LifecycleRule(
                    abort_incomplete_multipart_upload_after=Duration.days(2),
                    noncurrent_version_expiration=Duration.days(90),
                )
            ],
            removal_policy=RemovalPolicy.RETAIN,
        )
        self.repository = ecr.Repository(
            self,
            "Images",
            image_scan_on_push=True,
            image_tag_mutability=ecr.TagMutability.IMMUTABLE,
            encryption=ecr.RepositoryEncryption.AES_256,
            lifecycle_rules=[ecr.LifecycleRule(max_image_count=IMAGES_KEPT)],
            removal_policy=RemovalPolicy.RETAIN,
        )

    def _access_logs(self, environment: Environment) -> s3.Bucket:
        """Balancers write with a service principal of their own, and can only encrypt with S3's keys."""
        bucket = s3.Bucket(
            self,
            "AccessLogs",
            encryption=s3.BucketEncryption.S3_MANAGED,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=[s3.LifecycleRule(expiration=Duration.days(environment.log_days))],
            removal_policy=RemovalPolicy.RETAIN,
        )
        bucket.add_to_resource_policy(
            iam.PolicyStatement(
                sid="BalancerWritesAccessLogs",
                principals=[iam.ServicePrincipal("logdelivery.elasticloadbalancing.amazonaws.com")],
                actions=["s3:PutObject"],
                resources=[f"{bucket.bucket_arn}/balancer/AWSLogs/{Aws.ACCOUNT_ID}/*"],
            )
        )
        return bucket
