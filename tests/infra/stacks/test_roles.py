"""Roles grant no more than they must."""

from __future__ import annotations

from typing import Any

from infra.environments import Environment
from tests.support.fleets import EACH, Read, fleet
from tests.support.templates import Template, listed, resources, text

WILDCARDS = {
    "ecr:GetAuthorizationToken",
    "ecs:DiscoverPollEndpoint",
    "elasticloadbalancing:DescribeListeners",
    "elasticloadbalancing:DescribeRules",
    "elasticloadbalancing:DescribeTargetGroups",
    "elasticloadbalancing:DescribeTargetHealth",
    "ssm:UpdateInstanceInformation",
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
}
"""Actions that AWS gives no resource for. All others on `*` must have a condition."""


def statements(template: Template) -> list[dict[str, Any]]:
    found = resources(template, "AWS::IAM::Policy").values()
    return [each for policy in found for each in policy["PolicyDocument"]["Statement"]]


@EACH
def test_only_actions_without_resources_are_granted_on_everything(template: Read, environment: Environment) -> None:
    found = statements(fleet(template, environment))
    assert found
    for statement in found:
        assert statement["Effect"] == "Allow"
        assert not any("*" in action for action in listed(statement["Action"])), statement
        if "*" in listed(statement["Resource"]) and "Condition" not in statement:
            assert set(listed(statement["Action"])) <= WILDCARDS, statement


DOORS = {"ecr": {"ecr.api", "ecr.dkr"}, "ecs": {"ecs", "ecs-agent", "ecs-telemetry"}, "cloudwatch": {"monitoring"}}
"""Names of endpoints, by the service's name in actions, where they differ."""


@EACH
def test_each_service_that_a_role_may_call_has_an_endpoint(template: Read, environment: Environment) -> None:
    """And no other has one. KMS is called by S3, SQS and SNS."""
    found = {
        action.partition(":")[0]
        for each in statements(fleet(template, environment))
        for action in listed(each["Action"])
    }
    wanted = {door for service in found - {"kms"} for door in DOORS.get(service, {service})}
    made = resources(template(f"{environment.name}-base"), "AWS::EC2::VPCEndpoint").values()
    there = {text(each["ServiceName"]).partition("<AWS::Region>.")[2] for each in made}
    assert wanted <= there
    assert there - wanted <= {"secretsmanager"}, "whose keys may be asked for by any edit"


@EACH
def test_nothing_may_write_to_the_model_bucket(template: Read, environment: Environment) -> None:
    others = [each for each in statements(fleet(template, environment)) if "Bulk" not in each.get("Sid", "")]
    granted = {action for each in others for action in listed(each["Action"])}
    assert {action for action in granted if action.startswith("s3:")} == {"s3:GetObject", "s3:ListBucket"}


@EACH
def test_no_managed_policy_is_attached(template: Read, environment: Environment) -> None:
    for name in ("base", "fleet"):
        for role in resources(template(f"{environment.name}-{name}"), "AWS::IAM::Role").values():
            assert "ManagedPolicyArns" not in role
