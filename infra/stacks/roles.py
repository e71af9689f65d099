"""IAM roles and permissions: each a statement that names its resource, or the reason why it cannot. No wildcard grants.

task       read models, write its own metrics; of bulk jobs: read inputs, write results, work on the queue, tell the end
execution  what the ECS agent does for a task: pull the image, read the secret, write logs
instance   ECS: join its own cluster; no ECS: all of the above. Both: sessions, boot logs, its group's launch hook, and
           calling itself unhealthy
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aws_cdk import Aws
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_secretsmanager as secrets
from constructs import Construct

from infra.bulk_jobs import BucketPrefix, BulkJobs, region_of
from infra.stacks.container import NAMESPACE

Statements = list[iam.PolicyStatement]
RESULT_ACTIONS = ["s3:PutObject", "s3:AbortMultipartUpload"]
"""Actions by which results of bulk jobs are written: parts of an upload that failed would stay, and cost."""


def role(scope: Construct, name: str, service: str, statements: Statements) -> iam.Role:
    """A role for one AWS service, with these permissions and no others."""
    made = iam.Role(scope, name, assumed_by=iam.ServicePrincipal(service))
    for statement in statements:
        made.add_to_policy(statement)
    return made


def reads_models(models_arn: str) -> Statements:
    """The model store's remote, read only: a task cannot change what other tasks will load."""
    return [
        _allow("ReadModels", ["s3:GetObject"], [f"{models_arn}/models/*"]),
        _allow("ListModels", ["s3:ListBucket"], [models_arn], {"StringLike": {"s3:prefix": ["models/*"]}}),
    ]


def works_on_bulk_jobs(jobs: BulkJobs, *, queue_arn: str, dead_letters_arn: str, topic_arn: str) -> Statements:
    """Two prefixes and one queue, and their keys. Jobs are planned and sent by people, so a task sends no messages."""
    source, target = jobs.source, jobs.target
    writes = ["s3:GetObject", *RESULT_ACTIONS]
    actions = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility", "sqs:GetQueueAttributes"]
    listed = [
        _allow(
            f"ListBulk{name}",
            ["s3:ListBucket"],
            [bucket_arn(place)],
            {"StringLike": {"s3:prefix": [f"{place.prefix}*"]}},
        )
        for name, place in (("Inputs", source), ("Results", target))
    ]
    return [
        _allow("ReadBulkInputs", ["s3:GetObject"], [f"{bucket_arn(source)}/{source.prefix}*"]),
        _allow("WriteBulkResults", writes, [f"{bucket_arn(target)}/{target.prefix}*"]),
        *listed,
        _allow("WorkOnBulkQueue", actions, [queue_arn]),
        _allow("CountBulkDeadLetters", ["sqs:GetQueueAttributes"], [dead_letters_arn]),
        _allow("TellTheEndOfJobs", ["sns:Publish"], [topic_arn]),
        *_uses_bulk_keys(jobs),
    ]


def _uses_bulk_keys(jobs: BulkJobs) -> Statements:
    """Each KMS key through one AWS service alone, and in S3 for one prefix."""
    reads, writes = ["kms:Decrypt"], ["kms:Decrypt", "kms:GenerateDataKey"]
    keys = (
        ("ReadBulkInputs", jobs.input_key, reads, "s3", jobs.source),
        ("WriteBulkResults", jobs.output_key, writes, "s3", jobs.target),
        ("WorkOnBulkQueue", jobs.queue_key, reads, "sqs", None),
        ("TellTheEndOfJobs", jobs.queue_key, writes, "sns", None),
    )
    return [
        iam.PolicyStatement(
            sid=f"{name}Key",
            actions=actions,
            resources=[key],
            conditions={
                "StringEquals": {"kms:ViaService": f"{service}.{region_of(key)}.{Aws.URL_SUFFIX}"},
                **({"StringLike": {"kms:EncryptionContext:aws:s3:arn": _encrypted(place)}} if place else {}),
            },
        )
        for name, key, actions, service, place in keys
        if key
    ]


def _encrypted(place: BucketPrefix) -> list[str]:
    """Encryption contexts that S3 sends KMS: an object, or the bucket if that has a bucket key."""
    return [bucket_arn(place), f"{bucket_arn(place)}/{place.prefix}*"]


def bucket_arn(place: BucketPrefix) -> str:
    return f"arn:{Aws.PARTITION}:s3:::{place.bucket}"


def writes_metrics() -> Statements:
    """PutMetricData, which takes no resources; bounded by the namespace."""
    own = {"StringEquals": {"cloudwatch:namespace": NAMESPACE}}
    return [_allow("PublishMetrics", ["cloudwatch:PutMetricData"], ["*"], own)]


def pulls_images(repository: ecr.IRepository) -> Statements:
    """Pulling from one repository; the token is the whole account's."""
    actions = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
    return [
        _allow("ImageToken", ["ecr:GetAuthorizationToken"], ["*"]),
        _allow("PullImage", actions, [repository.repository_arn]),
    ]


def writes_logs(group: logs.ILogGroup) -> Statements:
    return [_allow("WriteLogs", ["logs:CreateLogStream", "logs:PutLogEvents"], [group.log_group_arn])]


def reads_secret(secret: secrets.ISecret) -> Statements:
    return [_allow("ReadKeys", ["secretsmanager:GetSecretValue"], [secret.secret_arn])]


def joins_cluster(cluster_arn: str) -> Statements:
    """Permissions of the ECS agent in an instance's role, for one cluster."""
    own = {"ArnEquals": {"ecs:cluster": cluster_arn}}
    actions = ["ecs:Poll", "ecs:StartTelemetrySession", "ecs:UpdateContainerInstancesState"]
    reports = ["ecs:SubmitAttachmentStateChanges", "ecs:SubmitContainerStateChange", "ecs:SubmitTaskStateChange"]
    membership = ["ecs:RegisterContainerInstance", "ecs:DeregisterContainerInstance"]
    return [
        _allow("FindEcs", ["ecs:DiscoverPollEndpoint"], ["*"]),
        _allow("JoinCluster", [*membership, *reports], [cluster_arn]),
        _allow("WorkInCluster", actions, ["*"], own),
    ]


def serves_sessions() -> Statements:
    """Session Manager instead of SSH: no open port, no key."""
    channels = ["CreateControlChannel", "CreateDataChannel", "OpenControlChannel", "OpenDataChannel"]
    actions = ["ssm:UpdateInstanceInformation", *(f"ssmmessages:{each}" for each in channels)]
    return [_allow("Sessions", actions, ["*"])]


def speaks_for_its_instance(group_names: Sequence[str]) -> Statements:
    """Completing the launch hook and reporting a lost GPU, for its own groups only."""
    pattern = f"arn:{Aws.PARTITION}:autoscaling:{Aws.REGION}:{Aws.ACCOUNT_ID}:autoScalingGroup:*:autoScalingGroupName"
    groups = [f"{pattern}/{name}" for name in group_names]
    return [
        _allow("SpeakForInstance", ["autoscaling:CompleteLifecycleAction", "autoscaling:SetInstanceHealth"], groups)
    ]


def _allow(
    name: str, actions: list[str], resources: list[str], conditions: Mapping[str, object] | None = None
) -> iam.PolicyStatement:
    return iam.PolicyStatement(sid=name, actions=actions, resources=resources, conditions=conditions)
