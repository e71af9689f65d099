"""The policy as it was reviewed, simulated again: does this simulator say what an independent one said?

The review's model is a fluid: 40 documents a second and task, kept if they wait for 2 s at most, nothing beside the
wait. Its policy had coarser steps than today's, which `as_reviewed` gives back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np

from infra.scaling.capacity import Capacity
from infra.scaling.deployed_policy import Deployed
from infra.scaling.policy import Policy, policy_for
from infra.scaling.policy_values import Delays, Limits, Step
from loadtest.simulator.checks.queueing import batch_server
from loadtest.simulator.demand import Demand
from loadtest.simulator.evidence.recorded import BALANCER, CHAT, CODE, DIURNAL, FUNCTIONS, SPIKES
from loadtest.simulator.fleet.fleet import Fleet
from loadtest.simulator.latency_table import LEVELS, QUANTILES, LatencyTable
from loadtest.simulator.outcome import Outcome, outcome_of
from loadtest.simulator.service_model import ServiceModel, model_of

CAPACITY = Capacity(documents_per_second=40.0, tokens_per_second=16_000.0, slo_ms=2_000.0)
LIMITS = Limits(minimum_tasks=2, maximum_tasks=400)
WAIT_SECONDS = 2.0
BIN = 1.03
"""A tally's bins are that wide: a wait of two seconds may be counted a little higher."""
EDGES = (0.85, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0)
LAST_PERCENT = 600
FLAT, SMALL, LARGE, SHED = "flat 60 s", "ECS, 2 warm", "ECS, pool never empty", "flat 60 s, refusing"
REVIEWED = {
    DIURNAL: {FLAT: (99.80, 1.73), SMALL: (98.68, 1.82), LARGE: (99.83, 1.79), SHED: (99.98, 1.73)},
    SPIKES: {FLAT: (98.62, 1.75), SMALL: (97.17, 1.86), LARGE: (98.82, 1.84), SHED: (99.76, 1.75)},
    FUNCTIONS: {FLAT: (98.46, 1.77), SMALL: (98.28, 1.97), LARGE: (98.65, 1.90), SHED: (99.76, 1.77)},
    BALANCER: {FLAT: (91.91, 1.90), SMALL: (82.11, 2.26), LARGE: (93.03, 2.15), SHED: (98.28, 1.90)},
    CHAT: {FLAT: (99.30, 1.36), SHED: (99.82, 1.36)},
    CODE: {FLAT: (84.17, 1.22), SHED: (89.94, 1.22)},
}
"""Per cent kept, and instance hours over the oracle's, by that model; one seed or two, ± a few hundredths."""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """One cell again: per cent kept and hours over the oracle's, theirs and ours."""

    trace: str
    column: str
    kept_then: float
    cost_then: float
    kept: float
    cost: float

    @property
    def agrees(self) -> bool:
        """Within 0.3 points and 0.05."""
        return abs(self.kept - self.kept_then) <= 0.3 and abs(self.cost - self.cost_then) <= 0.05


def as_reviewed() -> Policy:
    """The policy with the steps of then."""
    policy = policy_for(CAPACITY, LIMITS, Delays(start_seconds=60.0))
    target, base = policy.targets.work_ratio, EDGES[0]
    steps = [
        Step(round(low - base, 6), round(high - base, 6), math.ceil(100 * (high / target - 1)))
        for low, high in pairwise(EDGES)
    ]
    by_work, *others = policy.scale_out
    last = Step(round(EDGES[-1] - base, 6), None, LAST_PERCENT)
    return replace(policy, scale_out=(replace(by_work, steps=(*steps, last)), *others))


def chain(column: str) -> Deployed:
    """How the column's instances start: 60 s flat, or by ECS with 45 s from the pool and 260 s without it."""
    flat = column in (FLAT, SHED)
    warm, cold = (60.0, 60.0) if flat else (45.0, 260.0)
    policy = as_reviewed()
    return Deployed(
        policy=replace(policy, delays=replace(policy.delays, warm_start_seconds=warm, cold_start_seconds=cold)),
        warm_pool={SMALL: 2, LARGE: LIMITS.maximum_tasks}.get(column, 0),
        target_percent=100,
        maximum_percent=150,
        deregistration_seconds=0.0 if flat else 300.0,
        spot_base=LIMITS.maximum_tasks,
        spot_weight=0.0,
        max_queue_seconds=WAIT_SECONDS if column == SHED else math.inf,
        queue_limit_tokens=math.inf,
        deadline_seconds=300.0,
        managed=not flat,
    )


@cache
def fluid() -> tuple[ServiceModel, LatencyTable]:
    """A task of which only the wait counts; its GPU is as busy as the batch server's chain says."""
    model = replace(model_of(CAPACITY), slo_seconds=WAIT_SECONDS * BIN, queue_limit_tokens=math.inf)
    loads = (np.arange(LEVELS) + 0.5) / LEVELS
    busy = np.array([batch_server(load * 32 / 0.036, 0.004, 0.001, 32).busy for load in loads[:-1]] + [1.0])
    return model, LatencyTable(np.zeros((LEVELS, QUANTILES)), busy, np.ones(QUANTILES))


def simulate(column: str, demand: Demand, seed: int) -> Outcome:
    """One cell."""
    (model, table), deployed = fluid(), chain(column)
    model = replace(model, max_queue_seconds=deployed.max_queue_seconds)
    run = Fleet(deployed, model, table, seed=seed).run(demand)
    return outcome_of(run, demand, deployed, model, table, 1.0)


def line(cell: Reviewed) -> str:
    """As it is printed."""
    mark = "" if cell.agrees else "   differs"
    return (
        f"{cell.trace:10} {cell.column:22} {cell.kept_then:7.2f} {cell.kept:7.2f} "
        f"{cell.cost_then:6.2f} {cell.cost:6.2f}{mark}"
    )
