"""Accepted findings of cdk-nag, each with its reason. Wildcards are acknowledged one by one, never as a kind."""

from __future__ import annotations

from aws_cdk import Acknowledgment, Stack, Validations

from infra.environments import Environment

Reasons = dict[str, str]

BASE_REASONS: Reasons = {
    "SMG4": "The secret holds digests of keys that clients rotate on their own; rotating the digests alone would lock "
    "them out. A client may have two keys while one replaces the other."
}

_GROUPS: Reasons = {
    "AS3": "Launches and terminations are daily business of a fleet that scales; a message for each would bury the "
    "alarms in the same topic. The group's activity history keeps them all.",
    "EC26": "The rule cannot read a launch template through a mixed instances policy. The only disk is encrypted: "
    "tests/infra/stacks/test_machines.py asserts it.",
}
_ANYTHING = (
    "ecr:GetAuthorizationToken, ssm:UpdateInstanceInformation, ssmmessages and looking at balancers know no resources; "
    "PutMetricData is bound to our namespace and the ECS agent's calls to our cluster by conditions."
)


def ecs_reasons(environment: Environment) -> Reasons:
    """Accepted findings of the fleet on ECS."""
    return {
        **_GROUPS,
        **_wildcards(environment),
        "ECS2": "The variables are settings, listed in the README; the one secret is passed by reference.",
    }


def asg_reasons(environment: Environment) -> Reasons:
    """Accepted findings of the fleet without ECS."""
    return {**_GROUPS, **_wildcards(environment)}


def _wildcards(environment: Environment) -> Reasons:
    fleet = environment.fleet
    group = "arn:<AWS::Partition>:autoscaling:<AWS::Region>:<AWS::AccountId>:autoScalingGroup:*:autoScalingGroupName"
    return {
        "IAM5[Resource::*]": _ANYTHING,
        f"IAM5[Resource::{fleet}-models-arn/models/*]": "The blobs of the models that a task may be asked to serve; "
        "read only, and nothing outside of this prefix.",
        **_bulk_wildcards(environment),
        **{
            f"IAM5[Resource::{group}/{name}]": "An Auto Scaling group's ARN has a random part before its name; the "
            "name is given in full."
            for name in environment.groups
        },
    }


def _bulk_wildcards(environment: Environment) -> Reasons:
    if environment.bulk is None:
        return {}
    return {
        f"IAM5[Resource::arn:<AWS::Partition>:s3:::{place.bucket}/{place.prefix}*]": "The documents, or results, of "
        "bulk jobs: all objects of one prefix, and nothing outside of it."
        for place in (environment.bulk.source, environment.bulk.target)
    }


def acknowledge(stack: Stack, reasons: Reasons) -> None:
    """Record accepted findings on the stack; they stand in the template's metadata."""
    rules = [Acknowledgment(id=f"AwsSolutions::AwsSolutions-{rule}", reason=why) for rule, why in reasons.items()]
    Validations.of(stack).acknowledge(*rules)
