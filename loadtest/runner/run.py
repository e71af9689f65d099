"""Running a scenario: generators, metrics sampler and actions together; and the capacity measured before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loadtest.errors import LoadtestError
from loadtest.records.records import Records
from loadtest.results.generator_health import GeneratorHealth, assess_generator
from loadtest.results.summary import only_reported
from loadtest.runner.generator_pool import GeneratorPool, RunProgress
from loadtest.runner.target_service import ActionRunner, TargetService
from loadtest.scenario.scenario import Scenario
from loadtest.telemetry.sampler import MetricsSample, MetricsSampler

FIRST_AT_ONCE = 8
MOST_AT_ONCE = 1024
GROWTH = 1.08
"""The factor that twice the concurrency must gain; with less the service is saturated."""
SETTLE_SHARE = 0.25
"""The part of a capacity measurement that is discarded at its beginning."""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """What one scenario gave."""

    records: Records
    samples: tuple[MetricsSample, ...]
    generator: GeneratorHealth


def run_scenario(
    scenario: Scenario, target: TargetService, on_progress: Callable[[RunProgress], None], *, processes: int = 0
) -> Run:
    """Send all requests of a scenario whose rates are absolute, and wait for the last reply."""
    pool = GeneratorPool(target.endpoint, scenario, processes=processes)
    with pool:
        sampler = MetricsSampler(target.endpoint.url, lambda: target.process, pool.start)
        with sampler, ActionRunner(scenario.actions, target, pool, sampler):
            run = pool.follow(on_progress)
    health = assess_generator(
        only_reported(run.records, scenario),
        processes=len(run.stats),
        cpu_share=max(stats.cpu_share for stats in run.stats),
        most_connections=sum(stats.most_open for stats in run.stats),
        exhausted=sum(stats.exhausted for stats in run.stats),
        resent=sum(stats.resent for stats in run.stats),
    )
    return Run(run.records, tuple(sampler.samples), health)


def saturate(scenario: Scenario, target: TargetService, log: Callable[[str], None], *, seconds: float = 4.0) -> float:
    """Documents per second at full load: a closed loop whose concurrency doubles until that gains nothing.

    Raises:
        LoadtestError: nothing was answered.
    """
    best, at_once = 0.0, FIRST_AT_ONCE
    while at_once <= MOST_AT_ONCE:
        with GeneratorPool(target.endpoint, scenario, at_once=at_once, seconds=seconds) as pool:
            records = pool.follow(lambda _: None).records
        found = _per_second(records, seconds * SETTLE_SHARE, seconds)
        log(f"{at_once} at once: {found:.1f} documents a second")
        if found < best * GROWTH:
            return max(found, best)
        best, at_once = found, at_once * 2
    if not best:
        raise LoadtestError("not one document was answered while the capacity was measured")
    return best


def _per_second(records: Records, begin: float, end: float) -> float:
    """Good answers per second between two moments; at least the rate of the whole run."""
    ended = records.done[records.ok]
    inside = ((ended >= begin) & (ended < end)).sum() / (end - begin)
    whole = len(ended) / max(float(ended.max()), end) if len(ended) else 0.0
    return float(max(inside, whole) if inside else whole)
