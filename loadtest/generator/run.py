"""A run: a scenario on the service under test, and the health of the generator.

Figures are not reported when the generator was the bottleneck. Latency counts from the intended time, so lag makes a
server look slower, never faster. Problems of a generator, among the requests that are reported:

- connections: a request could not be sent because the limit was reached;
- CPU: a process used more than 90 % of a core, so that it may have sent late and read late;
- lag: more than 1 % of the requests, and more than two, left over 20 ms late *and* later than a tenth of the 99th
  percentile of the latency.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from loadtest.errors import LoadtestError
from loadtest.generator.generator_pool import GeneratorPool, RunProgress
from loadtest.generator.records import Records
from loadtest.generator.sampler import MetricsSample, MetricsSampler
from loadtest.generator.target import ActionRunner, TargetService
from loadtest.scenario.scenario import Scenario

MOST_CPU_SHARE = 0.9
LAG_MS, LAG_SHARE = 20.0, 0.1
"""Largest lag of a request that is sent in time: milliseconds, and as a share of the latency's p99."""
LATE_SHARE, LATE_REQUESTS = 0.01, 2
"""Most late requests of a healthy generator: as a share of all, and their number."""


@dataclass(frozen=True, slots=True)
class GeneratorHealth:
    """The generator's own measurements. `problems` is empty when the run's figures can be trusted."""

    processes: int
    lag_p50_ms: float
    lag_p99_ms: float
    lag_max_ms: float
    cpu_share: float
    most_connections: int
    resent: int
    problems: tuple[str, ...]


def assess_generator(
    records: Records, *, processes: int, cpu_share: float, most_connections: int, exhausted: int, resent: int
) -> GeneratorHealth:
    """The health of a run's generator; `cpu_share` is that of its busiest process."""
    lag = np.quantile(records.lag_ms, (0.5, 0.99, 1.0)) if len(records) else np.zeros(3)
    latency = float(np.quantile(records.latency_ms, 0.99)) if len(records) else 0.0
    problems = []
    if exhausted:
        problems.append(f"{exhausted} requests found no free connection (limit of open files)")
    if cpu_share > MOST_CPU_SHARE:
        problems.append(f"a generator process used {cpu_share:.0%} of a core; use more processes or a faster machine")
    limit = max(LAG_MS, LAG_SHARE * latency)
    late = int((records.lag_ms > limit).sum())
    if late > max(LATE_SHARE * len(records), LATE_REQUESTS):
        problems.append(f"{late} requests left more than {limit:.0f} ms late (p99 of the latency: {latency:.0f} ms)")
    shown = (float(lag[0]), float(lag[1]), float(lag[2]))
    return GeneratorHealth(processes, *shown, cpu_share, most_connections, resent, tuple(problems))


FIRST_AT_ONCE = 8
MOST_AT_ONCE = 1024
GROWTH = 1.08
"""Factor that twice the concurrency must gain; with less the service is saturated."""
SETTLE_SHARE = 0.25
"""Share of a capacity measurement, at its beginning, that is discarded."""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """The result of one scenario."""

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
        run.records.due_in(scenario.windows),
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
        rate = _per_second(records, seconds * SETTLE_SHARE, seconds)
        log(f"{at_once} at once: {rate:.1f} documents a second")
        if rate < best * GROWTH:
            return max(rate, best)
        best, at_once = rate, at_once * 2
    if not best:
        raise LoadtestError("not one document was answered while the capacity was measured")
    return best


def _per_second(records: Records, begin: float, end: float) -> float:
    """Good answers per second between two moments; at least the rate of the whole run."""
    ended = records.done[records.ok]
    inside = ((ended >= begin) & (ended < end)).sum() / (end - begin)
    whole = len(ended) / max(float(ended.max()), end) if len(ended) else 0.0
    return float(max(inside, whole) if inside else whole)
