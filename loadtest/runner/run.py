"""One scenario performed on a stage: generators, watch and actions together; and the capacity measured before it."""

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
"""Twice as many under way must bring so much more, or the service is full."""
SETTLE_SHARE = 0.25
"""Of a measurement's time, before it counts."""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """What one scenario gave."""

    records: Records
    moments: tuple[MetricsSample, ...]
    trust: GeneratorHealth


def run_scenario(
    scenario: Scenario, stage: TargetService, tick: Callable[[RunProgress], None], *, processes: int = 0
) -> Run:
    """Send all of a scenario whose rates are absolute, and follow it to the last answer."""
    crew = GeneratorPool(stage.aim, scenario, processes=processes)
    with crew:
        watch = MetricsSampler(stage.aim.url, lambda: stage.process, crew.start)
        with watch, ActionRunner(scenario.actions, stage, crew, watch):
            run = crew.follow(tick)
    trust = assess_generator(
        only_reported(run.records, scenario),
        processes=len(run.accounts),
        cpu_share=max(account.cpu_share for account in run.accounts),
        most_connections=sum(account.most_open for account in run.accounts),
        exhausted=sum(account.exhausted for account in run.accounts),
        resent=sum(account.resent for account in run.accounts),
    )
    return Run(run.records, tuple(watch.moments), trust)


def saturate(scenario: Scenario, stage: TargetService, say: Callable[[str], None], *, seconds: float = 4.0) -> float:
    """Documents per second at full load: a closed loop with more and more under way, until more brings no more.

    Raises:
        LoadtestError: nothing was answered.
    """
    best, at_once = 0.0, FIRST_AT_ONCE
    while at_once <= MOST_AT_ONCE:
        with GeneratorPool(stage.aim, scenario, at_once=at_once, seconds=seconds) as crew:
            records = crew.follow(lambda _: None).records
        found = _per_second(records, seconds * SETTLE_SHARE, seconds)
        say(f"{at_once} at once: {found:.1f} documents a second")
        if found < best * GROWTH:
            return max(found, best)
        best, at_once = found, at_once * 2
    if not best:
        raise LoadtestError("not one document was answered while the capacity was measured")
    return best


def _per_second(records: Records, begin: float, end: float) -> float:
    """Good answers per second between two moments; at least those that the whole run gave."""
    ended = records.done[records.ok]
    inside = ((ended >= begin) & (ended < end)).sum() / (end - begin)
    whole = len(ended) / max(float(ended.max()), end) if len(ended) else 0.0
    return float(max(inside, whole) if inside else whole)
