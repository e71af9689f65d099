"""The CDK application: every environment's stacks, with the checks that make synthesis fail."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from aws_cdk import App, Tags, Validations
from cdk_nag import AwsSolutionsChecks

from infra.environments import ENVIRONMENTS, Environment, Variant
from infra.fleet_scaling import policy_of
from infra.stacks.asg_fleet import AsgFleet
from infra.stacks.base import ENVIRONMENT_TAG, BaseStack
from infra.stacks.ecs_fleet import EcsFleet

CONTEXT = {
    "@aws-cdk/core:suppressTemplateIndentation": True,
    "@aws-cdk/core:validateAgainstDefaultRules": True,
    "aws:cdk:disable-asset-staging": True,
    "@aws-cdk/aws-iam:minimizePolicies": True,
    "@aws-cdk/aws-s3:serverAccessLogsUseBucketPolicy": True,
}


def build(
    out: Path, environments: tuple[Environment, ...] = ENVIRONMENTS, nag: bool = True, zones: Sequence[str] = ()
) -> App:
    """The application, not yet synthesized.

    Args:
        out: where `synth()` writes the templates.
        nag: True to make cdk-nag's findings failures.
        zones: those of the account that have GPUs, the fleet's first; none: such as most regions have.
    """
    app = App(outdir=str(out), context=CONTEXT, analytics_reporting=False)
    for environment in environments:
        base = BaseStack(app, environment, zones or usual_zones(environment))
        fleet = AsgFleet if environment.variant is Variant.ASG else EcsFleet
        for stack in (base, fleet(app, environment, policy_of(environment), base)):
            Tags.of(stack).add(ENVIRONMENT_TAG, environment.name)
    Tags.of(app).add("service", "gleaner")
    if nag:
        Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    return app


def usual_zones(environment: Environment) -> list[str]:
    """The zones of a fleet whose account has not been asked."""
    others = (f"{environment.region}{letter}" for letter in "abc")
    return [*environment.zones, *(each for each in others if each not in environment.zones)]
