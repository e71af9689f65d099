"""The knee of a real service: saturate it once, look at lone documents, then bisect with open-loop trials."""

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
from loadtest.knee.batch_latency_fit import BatchLatencyFit, from_answers, from_metrics
from loadtest.knee.bisection import FEWEST, Trial, TrialVerdict, evaluate, find_knee
from loadtest.knee.capacity_file import MeasuredCapacity, describe
from loadtest.records.records import Records, merge
from loadtest.runner.generator_pool import GeneratorPool
from loadtest.runner.run import Run, run_scenario, saturate
from loadtest.runner.target_service import TargetService
from loadtest.scenario.scenario import Phase, Scenario
from loadtest.telemetry.sampler import MetricsSample

MOST_WARM_SECONDS = 3.0
TRIES = 3
"""Of a trial in which the generator was late, as another program on its machine can make it."""
MOST_LENGTHS = 3
"""How often an undecided trial is prolonged before it counts as not holding."""
MOST_LONE_SECONDS = 6.0
MOST_SATURATED_SECONDS = 4.0


@dataclass(slots=True)
class KneeFinder:
    """One search; keeps what the trials saw on the way."""

    scenario: Scenario
    stage: TargetService
    slo_ms: float
    seconds: float
    say: Callable[[str], None]
    untrusted: bool = False
    moments: list[MetricsSample] = field(default_factory=list)
    records: list[Records] = field(default_factory=list)
    _seeds: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def warm_seconds(self) -> float:
        """Before each trial, at its rate, and not counted."""
        return min(MOST_WARM_SECONDS, self.seconds / 2)

    def run(self) -> MeasuredCapacity:
        """Find it.

        Raises:
            NotTrusted: the generator was the bottleneck of a trial.
            LoadtestError: not even a hundredth of the full rate holds the limit.
        """
        lone = self._lone()
        self.say("full load, to know where to look")
        saturated = saturate(self.scenario, self.stage, self.say, seconds=min(MOST_SATURATED_SECONDS, self.seconds))
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
            service_time=from_metrics(self.moments) or lone,
            start_seconds=self.stage.start_seconds,
            measured={
                "url": self.stage.aim.url if self.stage.own is None else "a service of its own on this machine",
                "at": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
                "machine": f"{platform.machine()}, {platform.system()}",
                "documents": msgspec.json.encode(self.scenario.mix.documents).decode(),
            },
        )

    def _lone(self) -> BatchLatencyFit | None:
        """Documents one at a time: each alone in its batch."""
        self.say("documents one at a time")
        with GeneratorPool(
            self.stage.aim, self.scenario, at_once=1, seconds=min(MOST_LONE_SECONDS, self.seconds)
        ) as crew:
            records = crew.follow(lambda _: None).records
        good = records.where(records.ok)
        return from_answers(good.tokens.astype(np.float64), good.stages_ms[:, 3] / 1000)

    def _attempt(self, rate: float) -> Trial:
        """One rate, prolonged while it is undecided."""
        seconds = max(self.seconds, FEWEST / rate)
        parts: list[Records] = []
        for length in range(1, MOST_LENGTHS + 1):
            performance = self._perform(rate, seconds)
            shift = len(parts) * seconds
            parts.append(_later(performance.records.between(self.warm_seconds, self.warm_seconds + seconds), shift))
            trial = evaluate(rate, merge(parts), self.slo_ms, last=length == MOST_LENGTHS)
            self.say(
                f"{rate:8.1f}/s  p50 {trial.p50_ms:6.0f} ms  p99 {trial.p99_ms:6.0f} ms  "
                f"not well: {trial.bad_share:.2%} ({trial.low:.2%} to {trial.high:.2%})  {trial.word}"
            )
            if trial.word is not TrialVerdict.UNDECIDED:
                break
        return trial

    def _perform(self, rate: float, seconds: float) -> Run:
        phases = (
            Phase("warm-up", seconds=self.warm_seconds, rate=rate, warm_up=True),
            Phase("trial", seconds=seconds, rate=rate),
        )
        scenario = replace(
            self.scenario, phases=phases, rates="absolute", actions=(), slo_ms=self.slo_ms, seed=next(self._seeds)
        )
        for _ in range(TRIES):
            performance = run_scenario(scenario, self.stage, lambda _: None)
            if self.untrusted or not performance.trust.problems:
                break
        else:
            raise NotTrusted(
                f"at {rate:.1f}/s the generator was the bottleneck: {'; '.join(performance.trust.problems)}"
            )
        self.moments += performance.moments
        self.records.append(performance.records)
        return performance


def _later(records: Records, seconds: float) -> Records:
    """The same, later: so that the blocks of two trials do not fall together."""
    times = {name: getattr(records, name) + seconds for name in ("intended", "sent", "done")}
    return Records(**{name: times.get(name, getattr(records, name)) for name in Records.__slots__})
