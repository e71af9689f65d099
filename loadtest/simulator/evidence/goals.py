"""Goals of the policy on recorded demands, each with what bounds it, and steps in all phases of the clock.

steady     diurnal: 99.9 % within 2 s, at 1.15 times the oracle without ECS's capacity provider, at 1.30 with it
brief      instances that live for under 15 minutes have 2 % of the hours at most
sudden     spikes and functions: 99.7 %
a step     of five times: decided within 25 s, recovered within 180 s
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from infra.scaling.deployed_policy import Deployed
from infra.scaling.policy import policy_for
from infra.scaling.policy_values import Delays, Limits, Tuning
from infra.scaling.profiles import BURSTY, STEADY
from loadtest.simulator.demand import Demand
from loadtest.simulator.evidence.review import CAPACITY, LIMITS
from loadtest.simulator.fleet.fleet import Fleet
from loadtest.simulator.latency_table import LatencyTable, latency_table
from loadtest.simulator.outcome import Outcome, outcome_of
from loadtest.simulator.service_model import ServiceModel, model_of
from loadtest.simulator.step_response import StepResponse, step_response

POOL = 60
"""As large as the largest step of a service of 400 documents a second, at 40 a task."""
QUICK_SECONDS = 30.0
"""A start where instances are kept running and empty."""
FOLLOWING = Tuning(work_ratio=0.8, before_a_step=0.9, scale_in_share=0.875, quiet_seconds=120, gpu_veto=False)
"""What follows a demand most closely: it needs starts of half a minute."""
STEP_SECONDS = 600
HIGH_SECONDS = 1_800


@dataclass(frozen=True, slots=True)
class Chain:
    """A tuning, and how its instances come: `start_seconds` flat, or None for ECS with its pool."""

    name: str
    tuning: Tuning
    start_seconds: float | None = None
    warm_pool: int = POOL


FLAT_CHAIN = Chain("flat 30 s, .8 .9 .7, 2 min", FOLLOWING, QUICK_SECONDS)
CHAINS = (
    FLAT_CHAIN,
    Chain("flat 60 s, STEADY", STEADY, 60.0),
    Chain("ECS, STEADY", STEADY),
    Chain("ECS, BURSTY", BURSTY),
    Chain("ECS, BURSTY, 2 warm", BURSTY, warm_pool=2),
)


def deployed(chain: Chain, limits: Limits = LIMITS) -> Deployed:
    """The fleet of a chain, refusing what would wait for longer than the limit on latency."""
    start, flat = chain.start_seconds, chain.start_seconds is not None
    delays = Delays().starting(warm=True, managed=True)
    if start is not None:
        delays = Delays(start_seconds=start, warm_start_seconds=start, cold_start_seconds=start)
    return Deployed(
        policy=policy_for(CAPACITY, limits, delays, tuning=chain.tuning),
        warm_pool=chain.warm_pool,
        target_percent=100,
        maximum_percent=150,
        deregistration_seconds=0.0 if flat else delays.deregistration_seconds,
        spot_base=limits.maximum_tasks,
        spot_weight=0.0,
        max_queue_seconds=CAPACITY.max_queue_ms / 1000,
        queue_limit_tokens=math.inf,
        deadline_seconds=float(delays.longest_request_seconds),
        managed=not flat,
    )


@cache
def task() -> tuple[ServiceModel, LatencyTable]:
    """A task of 40 documents a second, and its latencies."""
    model = replace(model_of(CAPACITY), max_queue_seconds=CAPACITY.max_queue_ms / 1000, queue_limit_tokens=math.inf)
    return model, latency_table(model)


def simulate(chain: Chain, demand: Demand, seed: int) -> Outcome:
    """One chain on one demand."""
    fleet, (model, table) = deployed(chain), task()
    run = Fleet(fleet, model, table, seed=seed).run(demand)
    return outcome_of(run, demand, fleet, model, table, 1.0)


def steps(chain: Chain, tasks: int) -> Iterator[StepResponse]:
    """The answers to a five-fold step from so many tasks at their target, in each second of the ten of the clock."""
    fleet, (model, table) = deployed(chain), task()
    rate = tasks * fleet.policy.targets.work_ratio / model.document_seconds
    for phase in range(10):
        at = STEP_SECONDS + phase
        means = np.where(np.arange(at + HIGH_SECONDS) < at, rate, 5 * rate)
        counts = np.random.default_rng(phase).poisson(means).astype(np.float64)
        demand = Demand("step", counts, np.ones(len(counts)))
        run = Fleet(fleet, model, table, seed=phase).run(demand)
        yield step_response(run, demand, at, fleet.policy.delays.ingest_seconds)


@dataclass(frozen=True, slots=True)
class Goal:
    """One goal: what it is of, what was found, what it should be. `bound`: what stands in the way of a miss."""

    what: str
    found: float
    bounds: tuple[float, float]
    bound: str = ""

    @property
    def is_met(self) -> bool:
        """True within its bounds."""
        return self.bounds[0] <= self.found <= self.bounds[1]


def goals_of(chain: Chain, outcome: Outcome) -> Iterator[Goal]:
    """The goals of one cell, as far as there are any for it."""
    name, ecs = f"{outcome.demand}, {chain.name}", chain.start_seconds is None
    starts = "a start takes as long as it takes: what comes meanwhile waits, or is refused"
    if outcome.demand == "diurnal" and chain.tuning is not BURSTY:
        most = 1.30 if ecs else 1.15
        draining = "ECS looks once a minute, drains for five and keeps idle instances for fifteen" if ecs else starts
        yield Goal(f"{name}: kept", outcome.kept, (0.999, 1.0), starts)
        yield Goal(f"{name}: hours over the oracle's", outcome.over_oracle, (0.0, most), draining)
        yield Goal(f"{name}: hours in brief lives", outcome.short_lives, (0.0, 0.02), "a band that is tight")
    if outcome.demand in ("spikes", "functions") and chain.tuning is BURSTY:
        yield Goal(f"{name}: kept", outcome.kept, (0.997, 1.0), starts)


def step_goals(chain: Chain, tasks: int, found: list[StepResponse]) -> Iterator[Goal]:
    """The worst of all phases."""
    never = math.inf
    decided = max(never if each.decided_seconds is None else each.decided_seconds for each in found)
    recovered = max(never if each.recovered_seconds is None else each.recovered_seconds for each in found)
    name = f"step from {tasks} tasks, {chain.name}"
    two = "two whole periods of ten seconds, and the delay of the points"
    yield Goal(f"{name}: decided, s", decided, (0.0, 25.0), two)
    yield Goal(f"{name}: recovered, s", recovered, (0.0, 180.0), "the capacity provider's minute, a start, what waits")
