"""The grid: which policies are tried on which demands. Pure data, but for `outcome`, which simulates one cell.

The fleet is that of the example `production` behind its own template's limits: 2 to 20 tasks of 100 documents a second,
half a second as the limit on latency. First the levers one after the other, with the policy as it was; then bands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from infra.environments import find_environment
from infra.scaling.capacity import ASSUMED
from infra.scaling.costs import HOURLY_DOLLARS
from infra.scaling.deployed_policy import Deployed
from infra.scaling.policy import policy_for
from infra.scaling.policy_values import Tuning
from loadtest.simulator.demand import HOUR, make_demand
from loadtest.simulator.fleet.fleet import Fleet
from loadtest.simulator.latency_table import LatencyTable, latency_table
from loadtest.simulator.outcome import Outcome, outcome_of
from loadtest.simulator.service_model import ServiceModel, model_of

ENVIRONMENT = find_environment("production")
PRICE = HOURLY_DOLLARS["g6.xlarge"]
SMALL_POOL, LARGE_POOL = 2, 8
NO_LIMIT = float("inf")
LIMIT_SECONDS = ASSUMED.max_queue_ms / 1000


@dataclass(frozen=True, slots=True)
class Run:
    """One demand: `rate` documents a second for `hours`. `sudden`: faster than instances start, and of more seeds."""

    shape: str
    rate: float
    hours: float
    sudden: bool
    seeds: tuple[int, ...] = (1,)


SEEDS = (1, 2, 3)
DEMANDS = (
    Run("steady", 400.0, 6.0, False),
    Run("wave", 400.0, 24.0, False),
    Run("trend", 400.0, 12.0, False),
    Run("zero", 400.0, 24.0, False),
    Run("step", 140.0, 2.0, True, SEEDS),
    Run("flash", 140.0, 3.0, True, SEEDS),
    Run("long", 140.0, 3.0, True, SEEDS),
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A policy: its tuning, the size of its warm pool, and its limit on waiting."""

    name: str
    tuning: Tuning
    warm_pool: int = LARGE_POOL
    limit_seconds: float = LIMIT_SECONDS


BEFORE = Tuning()


def _band(target: float, out: float, below: float, minutes: int, *, percent: int = 10, veto: bool = False) -> Tuning:
    return Tuning(
        work_ratio=target,
        before_a_step=out,
        scale_in_share=round(below / target, 4),
        quiet_seconds=minutes * 60,
        scale_in_percent=percent,
        gpu_veto=veto,
    )


CANDIDATES = (
    Candidate("as it was", BEFORE, SMALL_POOL, NO_LIMIT),
    Candidate("+ limit on waiting", BEFORE, SMALL_POOL),
    Candidate("+ pool of 8", BEFORE),
    Candidate(".7 .85 .4, no veto", replace(BEFORE, gpu_veto=False)),
    Candidate(".6 .8 .35", _band(0.6, 0.8, 0.35, 5)),
    Candidate(".7 .85 .5", _band(0.7, 0.85, 0.5, 5)),
    Candidate(".7 .85 .55, 10 min", _band(0.7, 0.85, 0.55, 10)),
    Candidate(".7 .85 .55, 10 min, 20 %", _band(0.7, 0.85, 0.55, 10, percent=20)),
    Candidate(".75 .85 .6, 10 min", _band(0.75, 0.85, 0.6, 10)),
    Candidate(".8 .9 .65, 10 min", _band(0.8, 0.9, 0.65, 10)),
    Candidate(".8 .9 .65, 5 min", _band(0.8, 0.9, 0.65, 5)),
    Candidate(".85 .95 .7, 5 min", _band(0.85, 0.95, 0.7, 5)),
)
"""Target, step, scaling in: as shares of full load."""


def deployed(candidate: Candidate) -> Deployed:
    """The example's fleet with a candidate's policy, and without the schedule that knows its mornings."""
    policy = policy_for(limits=ENVIRONMENT.limits, delays=ENVIRONMENT.timed_delays, tuning=candidate.tuning)
    return Deployed(
        policy=policy,
        warm_pool=candidate.warm_pool,
        target_percent=100 - ENVIRONMENT.spare_percent,
        maximum_percent=150,
        deregistration_seconds=policy.delays.deregistration_seconds,
        spot_base=ENVIRONMENT.limits.minimum_tasks,
        spot_weight=0.0,
        max_queue_seconds=candidate.limit_seconds,
        queue_limit_tokens=2_000_000,
        deadline_seconds=policy.delays.longest_request_seconds,
    )


@cache
def _task() -> tuple[ServiceModel, LatencyTable]:
    model = model_of(ASSUMED)
    return model, latency_table(model)


def outcome(candidate: Candidate, run: Run, seed: int) -> Outcome:
    """One cell of the grid."""
    fleet, (model, table) = deployed(candidate), _task()
    model = replace(model, max_queue_seconds=candidate.limit_seconds)
    demand = make_demand(run.shape, run.rate, seed, run.hours * HOUR)
    found = Fleet(fleet, model, table, seed=seed).run(demand)
    return outcome_of(found, demand, fleet, model, table, PRICE)
