"""Knee search: trials of a scenario at one rate after another, on a real service, until the bracket is narrow."""

from __future__ import annotations

import itertools
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec
import numpy as np
from msgspec.structs import replace

from loadtest.errors import LoadtestError, NotTrusted
from loadtest.generator.generator_pool import GeneratorPool
from loadtest.generator.records import Records, merge
from loadtest.generator.run import Run, run_scenario, saturate
from loadtest.generator.sampler import MetricsSample
from loadtest.generator.target import TargetService
from loadtest.results.capacity_file import BatchLatencyFit, MeasuredCapacity, describe, from_answers, from_metrics
from loadtest.results.knee import MIN_REQUESTS, Trial, TrialVerdict, evaluate, find_knee
from loadtest.scenario.scenario import Phase, Scenario

MAX_WARM_UP_SECONDS = 3.0
ATTEMPTS = 3
"""Attempts at a trial in which the generator was late, as other programs on its machine may cause."""
MAX_LENGTHS = 3
"""Longest an undecided trial becomes, in multiples of its length, before its rate counts as failing."""
MAX_SINGLE_SECONDS = 6.0
MAX_SATURATED_SECONDS = 4.0


@dataclass(slots=True)
class KneeFinder:
    """One search for the knee. It keeps the records and metrics samples of its trials."""

    scenario: Scenario
    target: TargetService
    slo_ms: float
    seconds: float
    log: Callable[[str], None]
    untrusted: bool = False
    samples: list[MetricsSample] = field(default_factory=list, init=False)
    records: list[Records] = field(default_factory=list, init=False)
    _seeds: itertools.count[int] = field(default_factory=lambda: itertools.count(1), init=False)

    @property
    def warm_up_seconds(self) -> float:
        """The time before each trial, at its rate, that is not counted."""
        return min(MAX_WARM_UP_SECONDS, self.seconds / 2)

    def run(self) -> MeasuredCapacity:
        """Find the knee.

        Raises:
            NotTrusted: the generator was the bottleneck of a trial.
            LoadtestError: not even a hundredth of the full rate holds the limit.
        """
        single = self._single_documents()
        self.log("full load, to begin the search at")
        saturated = saturate(self.scenario, self.target, self.log, seconds=min(MAX_SATURATED_SECONDS, self.seconds))
        knee = find_knee(saturated, self._attempt)
        if not knee.holds:
            low = min(trial.p50_ms for trial in knee.trials)
            raise LoadtestError(
                f"no rate holds a p99 of {self.slo_ms:g} ms; at the lowest one the median was {low:.0f} ms"
            )
        together = merge(self.records)
        return describe(
            knee,
            slo_ms=self.slo_ms,
            saturated=saturated,
            tokens_per_document=float(together.tokens[together.ok].mean()),
            service_time=from_metrics(self.samples) or single,
            start_seconds=self.target.start_seconds,
            measured={
                "url": "a service of its own on this machine" if self.target.managed else self.target.endpoint.url,
                "at": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
                "machine": f"{platform.machine()}, {platform.system()}",
                "documents": msgspec.json.encode(self.scenario.mix.documents).decode(),
            },
        )

    def _single_documents(self) -> BatchLatencyFit | None:
        """The batch latency of documents sent one at a time, each alone in its batch."""
        self.log("documents one at a time")
        with GeneratorPool(
            self.target.endpoint, self.scenario, at_once=1, seconds=min(MAX_SINGLE_SECONDS, self.seconds)
        ) as pool:
            records = pool.follow(lambda _: None).records
        good = records.where(records.ok)
        return from_answers(good.tokens.astype(np.float64), good.stages_ms[:, 3] / 1000)

    def _attempt(self, rate: float) -> Trial:
        """Try one rate; the trial is prolonged while it is undecided."""
        seconds = max(self.seconds, MIN_REQUESTS / rate)
        parts: list[Records] = []
        for length in range(1, MAX_LENGTHS + 1):
            run = self._run(rate, seconds)
            counted = run.records.between(self.warm_up_seconds, self.warm_up_seconds + seconds)
            parts.append(_shifted(counted, len(parts) * seconds))
            trial = evaluate(rate, merge(parts), self.slo_ms, last=length == MAX_LENGTHS)
            self.log(
                f"{rate:8.1f}/s  p50 {trial.p50_ms:6.0f} ms  p99 {trial.p99_ms:6.0f} ms  "
                f"bad: {trial.bad_share:.2%} ({trial.low:.2%} to {trial.high:.2%})  {trial.verdict}"
            )
            if trial.verdict is not TrialVerdict.UNDECIDED:
                break
        return trial

    def _run(self, rate: float, seconds: float) -> Run:
        phases = (
            Phase("warm-up", seconds=self.warm_up_seconds, rate=rate, warm_up=True),
            Phase("trial", seconds=seconds, rate=rate),
        )
        scenario = replace(
            self.scenario, phases=phases, rates="absolute", actions=(), slo_ms=self.slo_ms, seed=next(self._seeds)
        )
        for _ in range(ATTEMPTS):
            run = run_scenario(scenario, self.target, lambda _: None)
            if self.untrusted or not run.generator.problems:
                self.samples += run.samples
                self.records.append(run.records)
                return run
        raise NotTrusted(f"at {rate:.1f}/s the generator was the bottleneck: {'; '.join(run.generator.problems)}")


def _shifted(records: Records, seconds: float) -> Records:
    """The records with all times later, so that the blocks of two parts of a trial do not coincide."""
    times = {name: getattr(records, name) + seconds for name in ("intended", "sent", "done")}
    return Records(**{name: times.get(name, getattr(records, name)) for name in Records.__slots__})
