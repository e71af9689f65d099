"""The base stack: network, repository, buckets, keys and alarm topic, which images, models and fleets need first."""

from __future__ import annotations

from aws_cdk import Aws, BootstraplessSynthesizer, CfnOutput, RemovalPolicy, SecretValue, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_secretsmanager as secrets
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.environments import Environment
from infra.stacks.acknowledged import BASE_REASONS, acknowledge
from infra.stacks.base.network import Network
from infra.stacks.base.storage import Storage


def models_export(environment: Environment) -> str:
    """The name of the export that holds the model bucket's ARN."""
    return f"{environment.fleet}-models-arn"


class BaseStack(Stack):
    """Network, storage, the keys' secret and the topic of the alarms."""

    def __init__(self, scope: Construct, environment: Environment) -> None:
        super().__init__(
            scope,
            f"{environment.fleet}-base",
            synthesizer=BootstraplessSynthesizer(),
            description="Gleaner: network, image repository, model bucket",
        )
        self.network = Network(self, "Network", environment)
        self.vpc = self.network.vpc
        self.storage = Storage(self, "Storage", environment)
        self.topic = self._topic(environment)
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

    def _topic(self, environment: Environment) -> sns.Topic:
        """The topic of the alarms. Its policy takes the place of the default one, so it must name CloudWatch."""
        topic = sns.Topic(self, "Alarms", enforce_ssl=True)
        topic.add_to_resource_policy(
            iam.PolicyStatement(
                sid="AlarmsPublish",
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=["sns:Publish"],
                resources=[topic.topic_arn],
                conditions={
                    "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
                    "ArnLike": {
                        "aws:SourceArn": f"arn:{Aws.PARTITION}:cloudwatch:{Aws.REGION}:{Aws.ACCOUNT_ID}:alarm:*"
                    },
                },
            )
        )
        if environment.alarm_email:
            topic.add_subscription(subscriptions.EmailSubscription(environment.alarm_email))
        return topic
