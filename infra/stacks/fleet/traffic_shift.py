"""What a gradual release adds to the service on ECS: how requests are moved, and ECS's right to move them.

ECS gives the new tasks the target group that is empty, changes the weights of one rule of the balancer, and takes the
other group at the next release. A rolling release adds nothing.
"""

from __future__ import annotations

from typing import Any

from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam

from infra.releases import Release, Strategy
from infra.stacks.fleet.balancer import Balancer
from infra.stacks.roles import moves_requests, role


def shifting(release: Release) -> dict[str, Any]:
    """Arguments of the service's `DeploymentConfigurationProperty`."""
    Service = ecs.CfnService  # noqa: N806
    if not release.gradual:
        return {"strategy": release.strategy.value}
    if release.strategy is Strategy.CANARY:
        how: dict[str, Any] = {
            "canary_configuration": Service.CanaryConfigurationProperty(
                canary_percent=release.percent, canary_bake_time_in_minutes=release.step_minutes
            )
        }
    else:
        how = {
            "linear_configuration": Service.LinearConfigurationProperty(
                step_percent=release.percent, step_bake_time_in_minutes=release.step_minutes
            )
        }
    return {"strategy": release.strategy.value, "bake_time_in_minutes": release.bake_minutes, **how}


def mover(balancer: Balancer) -> iam.Role | None:
    """The role by which ECS moves requests between the balancer's two target groups; none where there is one."""
    if balancer.alternate is None:
        return None
    groups = [each.target_group_arn for each in balancer.groups]
    rights = moves_requests(groups, balancer.routes.listener_rule_arn, balancer.listener.listener_arn)
    return role(balancer, "MoverRole", "ecs.amazonaws.com", rights)


def between(balancer: Balancer, moved_by: iam.Role | None) -> ecs.CfnService.AdvancedConfigurationProperty | None:
    """The second target group, the rule that is changed, and by whom."""
    if balancer.alternate is None or moved_by is None:
        return None
    return ecs.CfnService.AdvancedConfigurationProperty(
        alternate_target_group_arn=balancer.alternate.target_group_arn,
        production_listener_rule=balancer.routes.listener_rule_arn,
        role_arn=moved_by.role_arn,
    )
