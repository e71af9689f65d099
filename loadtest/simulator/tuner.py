"""`gleaner simulate --tune`: the search over simulated runs, on two processes, told line by line, and written."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from statistics import fmean

from infra.scaling.deployed_policy import Deployed
from infra.scaling.policy import policy_for
from infra.scaling.policy_file import ChosenPolicy
from infra.scaling.profiles import BURSTY
from loadtest.simulator.demand import Demand
from loadtest.simulator.fleet.fleet import Fleet
from loadtest.simulator.latency_table import LatencyTable
from loadtest.simulator.outcome import outcome_of
from loadtest.simulator.service_model import ServiceModel
from loadtest.simulator.tuning import Score, Tried, search

PROCESSES = 2


@dataclass(frozen=True, slots=True)
class Problem:
    """The fleet but for its policy, its tasks, and the demand that it is tuned for, once for each seed."""

    deployed: Deployed
    model: ServiceModel
    table: LatencyTable
    demands: tuple[Demand, ...]
    price: float

    def start(self) -> ChosenPolicy:
        """`BURSTY`, with the fleet's own pool and limit on waiting."""
        limit = self.deployed.max_queue_seconds
        return ChosenPolicy(BURSTY, self.deployed.warm_pool, 0 if math.isinf(limit) else round(limit * 1000))

    def with_policy(self, chosen: ChosenPolicy) -> tuple[Deployed, ServiceModel]:
        """The fleet and its tasks under another policy."""
        now, limit = self.deployed.policy, chosen.max_queue_ms / 1000 or math.inf
        policy = policy_for(now.capacity, now.limits, now.delays, now.schedules, now.forecast, chosen.tuning)
        deployed = replace(self.deployed, policy=policy, warm_pool=chosen.warm_pool, max_queue_seconds=limit)
        return deployed, replace(self.model, max_queue_seconds=limit)

    def score(self, chosen: ChosenPolicy) -> Score:
        """Means over the seeds."""
        deployed, model = self.with_policy(chosen)
        runs = [Fleet(deployed, model, self.table, seed=i).run(demand) for i, demand in enumerate(self.demands, 1)]
        found = [
            outcome_of(run, demand, deployed, model, self.table, self.price)
            for run, demand in zip(runs, self.demands, strict=True)
        ]
        return Score(fmean(each.kept for each in found), fmean(each.dollars_per_million for each in found))


def tune(problem: Problem, goal: float) -> Iterator[Tried]:
    """The start, then each better policy."""
    with ProcessPoolExecutor(PROCESSES) as pool:
        yield from search(problem.start(), _in_processes(pool, problem), goal, problem.model.slo_seconds * 1000)


def line(tried: Tried) -> str:
    """One policy as it is printed."""
    tuning, policy = tried.policy.tuning, tried.policy
    return (
        f"{tried.score.kept:.3%}  ${tried.score.dollars_per_million:.3f} a million  "
        f"target {tuning.work_ratio:g}, step above {tuning.before_a_step:g}, "
        f"fewer below {tuning.work_ratio * tuning.scale_in_share:.3g} for {tuning.quiet_seconds:g} s "
        f"by {tuning.scale_in_percent} %, GPU veto {'on' if tuning.gpu_veto else 'off'}, "
        f"pool {policy.warm_pool}, wait {policy.max_queue_ms or 'any'} ms"
    )


def _in_processes(pool: ProcessPoolExecutor, problem: Problem) -> Callable[[Sequence[ChosenPolicy]], Iterable[Score]]:
    def score(policies: Sequence[ChosenPolicy]) -> Iterable[Score]:
        return list(pool.map(problem.score, policies))

    return score
