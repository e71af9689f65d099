"""Scaling of an environment's fleet, for stacks and simulator: its policy, pool and Spot, the limits of its tasks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from infra.environments import Environment, Purchase
from infra.scaling.capacity import ASSUMED, Capacity, read_capacity
from infra.scaling.policy import Policy, policy_for

HERE = Path(__file__).parent
DEFAULT_MAX_QUEUE_MS = 10_000
"""Longest wait that a task admits where nothing was measured: twice the backlog that is worth another task."""
SPOT_WEIGHT = 3
"""Tasks on Spot for each one on demand, above the base."""


def policy_of(environment: Environment) -> Policy:
    """The environment's scaling policy, from its measured capacity."""
    return policy_for(
        capacity=_capacity(environment),
        limits=environment.limits,
        delays=environment.timed_delays,
        schedules=environment.schedules,
        forecast=environment.forecast,
        tuning=environment.tuning,
        bulk_tasks=environment.bulk.tasks if environment.bulk else None,
    )


def _capacity(environment: Environment) -> Capacity:
    path = capacity_path(environment)
    return ASSUMED if path is None else read_capacity(path.read_text())


def capacity_path(environment: Environment) -> Path | None:
    """The environment's capacity file; None where nothing was measured."""
    return None if environment.capacity_file is None else HERE / environment.capacity_file


def max_queue_ms(environment: Environment, policy: Policy) -> int:
    """Longest wait that a task admits, in milliseconds; 0 for no limit."""
    if environment.max_queue_ms is not None:
        return environment.max_queue_ms
    return policy.capacity.max_queue_ms if environment.capacity_file is not None else DEFAULT_MAX_QUEUE_MS


def queue_limit_tokens(environment: Environment, policy: Policy) -> int | None:
    """Most tokens that may wait in a task; None, for the service's own limit, where nothing was measured."""
    return policy.capacity.queue_limit_tokens if environment.capacity_file is not None else None


def on_demand_weight(environment: Environment) -> int:
    """Tasks on demand above the base, for `SPOT_WEIGHT` on Spot; a fleet from none on has Spot alone."""
    return 1 if environment.limits.minimum_tasks or environment.above_base is not Purchase.SPOT else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetScaling:
    """Scaling of a fleet on ECS.

    Attributes:
        warm_pool: stopped instances that wait.
        target_percent: target of the capacity provider; 100 keeps no spare instances.
        maximum_percent: tasks during a release, in percent of the wanted ones.
        deregistration_seconds: time for which a task that ends keeps its instance at least.
        spot_base, spot_weight: tasks on demand before the first on Spot, and Spot's share above them.
        zones: number of zones that instances are spread over.
        max_queue_seconds, queue_limit_tokens, deadline_seconds: limits of a task; infinite where there is none.
    """

    policy: Policy
    warm_pool: int
    target_percent: int
    maximum_percent: int
    deregistration_seconds: float
    spot_base: int
    spot_weight: float
    max_queue_seconds: float
    queue_limit_tokens: float
    deadline_seconds: float
    zones: int = 2


def fleet_scaling(environment: Environment) -> FleetScaling:
    """The scaling of the environment's fleet."""
    policy, spot = policy_of(environment), environment.above_base is Purchase.SPOT
    fewest = environment.limits.minimum_tasks
    return FleetScaling(
        policy=policy,
        warm_pool=environment.warm_pool,
        target_percent=100 - environment.spare_percent,
        maximum_percent=environment.maximum_percent,
        deregistration_seconds=policy.delays.deregistration_seconds,
        spot_base=fewest,
        spot_weight=SPOT_WEIGHT / (on_demand_weight(environment) + SPOT_WEIGHT) if spot else 0.0,
        max_queue_seconds=max_queue_ms(environment, policy) / 1000 or math.inf,
        queue_limit_tokens=queue_limit_tokens(environment, policy) or math.inf,
        deadline_seconds=policy.delays.longest_request_seconds,
        zones=len(environment.zones) or environment.zone_count,
    )
