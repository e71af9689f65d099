"""Scaling of an environment's fleet: its policy, the limits of its tasks, its share of Spot."""

from __future__ import annotations

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
    return policy.capacity.max_queue_ms if policy.capacity.is_measured else DEFAULT_MAX_QUEUE_MS


def queue_limit_tokens(policy: Policy) -> int | None:
    """Most tokens that may wait in a task; None, for the service's own limit, where nothing was measured."""
    return policy.capacity.queue_limit_tokens if policy.capacity.is_measured else None


def on_demand_weight(environment: Environment) -> int:
    """Tasks on demand above the base, for `SPOT_WEIGHT` on Spot; a fleet from none on has Spot alone."""
    return 1 if environment.limits.minimum_tasks or environment.above_base is not Purchase.SPOT else 0
