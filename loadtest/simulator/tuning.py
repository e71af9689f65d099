"""Policy search of `gleaner simulate --tune`: target, step, band, patience, share removed, veto, pool, waiting.

Coordinate descent: one value after the other is moved to where it is best, until nothing is better. Better is what
keeps the goal, then what is cheaper; below the goal, what keeps more. The size of a step is not searched: it follows
from the target, in proportion. Simulated runs are made in two processes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from statistics import fmean

from infra.scaling.deployed_policy import Deployed
from infra.scaling.policy import policy_for
from infra.scaling.policy_file import ChosenPolicy
from infra.scaling.policy_values import BURSTY
from loadtest.simulator.demand import Demand
from loadtest.simulator.fleet import Fleet
from loadtest.simulator.outcome import outcome_of
from loadtest.simulator.service_model import ServiceModel
from loadtest.simulator.single_task import LatencyTable

ROUNDS = 3
WORTH = 0.005
"""Of the dollars: less is what seeds differ by, and no reason to change a policy."""
STEPS: dict[str, tuple[float, ...]] = {
    "work_ratio": (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85),
    "before_a_step": (0.8, 0.85, 0.9, 0.95),
    "scale_in_share": (0.5, 0.5714, 0.65, 0.7143, 0.7857, 0.8125, 0.85, 0.9),
    "quiet_seconds": (120, 300, 600, 900),
    "scale_in_percent": (5, 10, 20, 30),
    "gpu_veto": (True, False),
}
POOLS = (0, 2, 4, 8, 12, 20, 40)


@dataclass(frozen=True, slots=True)
class Score:
    """The results of a policy: means over the seeds."""

    kept: float
    dollars_per_million: float

    def is_better(self, than: Score, goal: float) -> bool:
        """By the rule above."""
        if min(self.kept, goal) != min(than.kept, goal):
            return self.kept > than.kept
        return self.dollars_per_million < than.dollars_per_million * (1 - WORTH)


@dataclass(frozen=True, slots=True)
class ScoredPolicy:
    """A policy and its score."""

    policy: ChosenPolicy
    score: Score


Scorer = Callable[[Sequence[ChosenPolicy]], Iterable[Score]]
"""Scores several policies, side by side if it can."""


def search(start: ChosenPolicy, score: Scorer, goal: float, slo_ms: float) -> Iterator[ScoredPolicy]:
    """The start, then each better policy; the last is the best that was found."""
    (first,) = score([start])
    best = ScoredPolicy(start, first)
    yield best
    known = {start}
    for _ in range(ROUNDS):
        before = best
        for name in (*STEPS, "warm_pool", "max_queue_ms"):
            others = [each for each in moved(best.policy, name, slo_ms) if each not in known]
            known |= set(others)
            for policy, found in zip(others, score(others), strict=True):
                if found.is_better(best.score, goal):
                    best = ScoredPolicy(policy, found)
                    yield best
        if best is before:
            return


def moved(policy: ChosenPolicy, name: str, slo_ms: float) -> Iterator[ChosenPolicy]:
    """The policy with other values of one field, as far as they can be; limits on waiting are shares of the SLO."""
    if name == "warm_pool":
        yield from (replace(policy, warm_pool=each) for each in POOLS)
    elif name == "max_queue_ms":
        yield from (replace(policy, max_queue_ms=round(slo_ms * each)) for each in (0.0, 0.5, 0.75, 1.0, 2.0))
    else:
        for value in STEPS[name]:
            try:
                yield replace(policy, tuning=replace(policy.tuning, **{name: value}))  # type: ignore[arg-type]
            except ValueError:
                continue


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


def tune(problem: Problem, goal: float) -> Iterator[ScoredPolicy]:
    """The start, then each better policy."""
    with ProcessPoolExecutor(PROCESSES) as pool:
        yield from search(problem.start(), _in_processes(pool, problem), goal, problem.model.slo_seconds * 1000)


def line(scored: ScoredPolicy) -> str:
    """One policy as it is printed."""
    tuning, policy = scored.policy.tuning, scored.policy
    return (
        f"{scored.score.kept:.3%}  ${scored.score.dollars_per_million:.3f} a million  "
        f"target {tuning.work_ratio:g}, step above {tuning.before_a_step:g}, "
        f"fewer below {tuning.work_ratio * tuning.scale_in_share:.3g} for {tuning.quiet_seconds:g} s "
        f"by {tuning.scale_in_percent} %, GPU veto {'on' if tuning.gpu_veto else 'off'}, "
        f"pool {policy.warm_pool}, wait {policy.max_queue_ms or 'any'} ms"
    )


def _in_processes(pool: ProcessPoolExecutor, problem: Problem) -> Callable[[Sequence[ChosenPolicy]], Iterable[Score]]:
    def score(policies: Sequence[ChosenPolicy]) -> Iterable[Score]:
        return list(pool.map(problem.score, policies))

    return score
