"""What the simulator takes of an environment: its policy, and how ECS and the balancer treat its tasks."""

from __future__ import annotations

import math
from dataclasses import dataclass

from infra.environments import Environment, Purchase
from infra.fleet_scaling import SPOT_WEIGHT, max_queue_ms, on_demand_weight, policy_of, queue_limit_tokens
from infra.scaling.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetScaling:
    """Scaling of a fleet on ECS.

    Attributes:
        warm_pool: stopped instances that wait.
        target_percent: target of the capacity provider; 100 keeps no spare instances.
        maximum_percent: tasks during a release, in percent of the wanted ones.
        spot_weight: share of Spot in the tasks above the minimum.
        zones: number of zones that instances are spread over.
        max_queue_seconds, queue_limit_tokens: limits of a task; infinite where there is none.
    """

    policy: Policy
    warm_pool: int
    target_percent: int = 100
    maximum_percent: int = 150
    spot_weight: float = 0.0
    max_queue_seconds: float
    queue_limit_tokens: float = math.inf
    zones: int = 2


def fleet_scaling(environment: Environment) -> FleetScaling:
    """The scaling of the environment's fleet."""
    policy, spot = policy_of(environment), environment.above_base is Purchase.SPOT
    return FleetScaling(
        policy=policy,
        warm_pool=environment.warm_pool,
        target_percent=100 - environment.spare_percent,
        maximum_percent=environment.maximum_percent,
        spot_weight=SPOT_WEIGHT / (on_demand_weight(environment) + SPOT_WEIGHT) if spot else 0.0,
        max_queue_seconds=max_queue_ms(environment, policy) / 1000 or math.inf,
        queue_limit_tokens=queue_limit_tokens(policy) or math.inf,
        zones=environment.number_of_zones,
    )
