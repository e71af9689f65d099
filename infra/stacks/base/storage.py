"""Storage that outlives a fleet: the model bucket, the bucket of access logs, and the image repository."""

from __future__ import annotations

from aws_cdk import Aws, Duration, RemovalPolicy
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.environments import Environment

IMAGES_KEPT = 60
"""Of twenty releases: the registry counts an image's signature, and the signed list of its packages, as images too."""


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
