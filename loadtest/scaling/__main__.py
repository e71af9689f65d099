"""Autoscaling test: `python -m loadtest.scaling` runs a fleet of local services through a five-fold step of load.

Services, balancer, load and controller run in one event loop, for about 15 minutes. The controller stands for
CloudWatch and Auto Scaling: every period it takes the values that each task would publish, waits as long as points
take to arrive, evaluates the policy's own alarms by `infra.scaling.autoscaler`, and scales.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from infra.scaling.alarm_evaluation import Series
from infra.scaling.autoscaler import Autoscaler, Decision
from infra.scaling.capacity import Capacity
from infra.scaling.policy import Policy, policy_for
from infra.scaling.policy_values import Limits
from loadtest.errors import end_on_sigterm
from loadtest.generator.generator_process import Sender
from loadtest.generator.http_client import HttpClient
from loadtest.generator.records import Recorder
from loadtest.scaling.local_fleet import Balancer, LocalFleet
from loadtest.scaling.timeline import Assessment, Timeline, TimelineRow, assess, plot
from loadtest.scenario.scenario import Phase, Scenario, schedule
from loadtest.scenario.workload import JSON, Job
from service.signals.catalog import BACKLOG_SECONDS, GPU_UTILIZATION, PERIOD_SECONDS, QUEUE_DEPTH, WORK_RATIO, Signal

TEXT = (
    "Invoice {number} from Acme GmbH, Hauptstrasse 5, 10115 Berlin. Bill to: Blue Castell Software Ltd. "
    "Order date 12 March 2026, due 11 April 2026. 3 office chairs at EUR 129.00, total EUR 387.00 plus 19 % VAT. "
    "Payable to IBAN DE89 3704 0044 0532 0130 00. Contact: Jane Doe, jane@acme.example, +49 30 1234567."
)
TOKENS_PER_DOCUMENT = 98
"""Tokens of `TEXT` in the built-in model's vocabulary."""
DISTINCT = 1_000
CONNECTIONS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoscalingPlan:
    """The policy, the load, and the tasks of a test.

    Attributes:
        period_seconds: how often tasks publish and alarms are evaluated.
        tokens_per_second: the throughput to which a task's device is throttled.
    """

    policy: Policy
    phases: tuple[Phase, Phase, Phase]
    period_seconds: float
    tokens_per_second: float
    drain_grace_seconds: float = 5.0


def settings_of(plan: AutoscalingPlan) -> dict[str, object]:
    """A task's settings: one thread, small batches, and a throttled device."""
    return {
        "DEVICE": "cpu",
        "THREADS": 1,
        "WORKERS": 1,
        "PARSERS": 1,
        "BATCH_TOKENS": 256,
        "WINDOW_TOKENS": 256,
        "PACE_TOKENS_PER_SECOND": plan.tokens_per_second,
        "DRAIN_GRACE_SECONDS": plan.drain_grace_seconds,
        "DRAIN_SECONDS": plan.policy.delays.longest_request_seconds,
        "LOG_LEVEL": "WARNING",
    }


class ScalingController:
    """Evaluates the alarms and scales the fleet, once a period."""

    def __init__(self, plan: AutoscalingPlan, fleet: LocalFleet, timeline: Timeline, recorder: Recorder) -> None:
        self._plan, self._fleet, self._timeline, self._recorder = plan, fleet, timeline, recorder
        self._series = Series()
        self._scaler = Autoscaler(plan.policy, plan.policy.limits.minimum_tasks)
        self._ended = self._failed = 0
        self.decisions: list[Decision] = []

    async def run(self) -> None:
        """Run until cancelled."""
        period = self._plan.period_seconds
        tick = 0.0
        while True:
            tick += period
            await asyncio.sleep(max(self._timeline.began_at + tick - time.monotonic(), 0.0))
            published = await self._fleet.publish()
            for values in published:
                self._series.add(tick, values)
            await asyncio.sleep(min(self._plan.policy.delays.ingest_seconds, period / 2))
            self._decide(tick)
            self._timeline.add(self._row(tick, published))

    def _decide(self, tick: float) -> None:
        decision = self._scaler.decide(self._series, tick, self._fleet.serving)
        if decision is None:
            return
        now = self._timeline.now()
        self.decisions.append(replace(decision, at_seconds=now))
        self._timeline.note(
            f"{decision.by} at {decision.value:.2f}: {decision.tasks_before} → {decision.tasks_after} tasks"
        )
        self._fleet.scale_to(decision.tasks_after)

    def _row(self, tick: float, published: Sequence[Mapping[Signal, float]]) -> TimelineRow:
        latencies_ms, _ = self._recorder.take_recent()
        failed = self._recorder.refused + self._recorder.failed
        ended = self._recorder.ok + failed
        answered, failed_now = ended - self._ended, failed - self._failed
        self._ended, self._failed = ended, failed
        return TimelineRow(
            at_seconds=tick,
            per_second=_rate_at(self._plan.phases, tick),
            wanted=self._scaler.wanted,
            serving=self._fleet.serving,
            work_ratio=_mean(published, WORK_RATIO),
            backlog_seconds=_mean(published, BACKLOG_SECONDS),
            queue_depth=_mean(published, QUEUE_DEPTH),
            busy_percent=_mean(published, GPU_UTILIZATION),
            slowest_seconds=max(latencies_ms, default=0.0) / 1000,
            answered=answered,
            failed=failed_now,
            alarms=self._scaler.sounding,
        )


async def run_autoscaling_test(plan: AutoscalingPlan, timeline: Timeline) -> Assessment:
    """Run the plan; it takes as long as its phases and the start of the first tasks."""
    balancer = Balancer()
    await balancer.start()
    home = Path(tempfile.mkdtemp(prefix="gleaner-autoscaling-"))
    delays = plan.policy.delays
    fleet = LocalFleet(balancer, timeline, settings_of(plan), home, delays)
    try:
        minimum = plan.policy.limits.minimum_tasks
        fleet.scale_to(minimum, at_once=True)
        await fleet.wait_until_serving(minimum)
        timeline.start()
        recorder = Recorder(timeline.began_at)
        controller = ScalingController(plan, fleet, timeline, recorder)
        url, timeout_seconds = f"http://127.0.0.1:{balancer.port}", float(delays.stop_seconds)
        client = HttpClient(url, most=CONNECTIONS, timeout_seconds=timeout_seconds)
        async with client, asyncio.TaskGroup() as group:
            controlling = group.create_task(controller.run())
            await Sender(client, _jobs(), recorder).on_schedule(_due(plan.phases, timeline.began_at))
            controlling.cancel()
        await fleet.close()
        codes = [task.exit_code or 0 for task in fleet.tasks]
        settle = delays.scale_out_cooldown_seconds
        return assess(plan.phases, controller.decisions, recorder.records(), codes, settle_seconds=settle)
    finally:
        fleet.kill()
        await balancer.stop()


def _jobs() -> list[Job]:
    texts = (TEXT.format(number=number) for number in range(DISTINCT))
    return [Job("text", json.dumps({"text": text}).encode(), JSON) for text in texts]


def _due(phases: tuple[Phase, ...], began_at: float) -> Iterator[tuple[float, int]]:
    """The intended times: evenly spaced within each phase."""
    for number, moment in enumerate(schedule(Scenario("autoscaling", phases, "absolute", "even"))):
        yield began_at + moment, number


def _rate_at(phases: tuple[Phase, ...], at: float) -> float:
    for phase in phases:
        if at <= phase.seconds:
            return phase.rate
        at -= phase.seconds
    return 0.0


def _mean(published: Sequence[Mapping[Signal, float]], signal: Signal) -> float:
    found = [values[signal] for values in published if signal in values]
    return sum(found) / len(found) if found else 0.0


DOCUMENTS_PER_SECOND = 2.0
"""The throughput to which a task is throttled."""
SLO_MS = 2000.0
BASE_PER_SECOND = 2.0
STEP = 5


def plan_for(high_seconds: float, low_seconds: float) -> AutoscalingPlan:
    """The real policy, over tasks of a small, known capacity."""
    speed = DOCUMENTS_PER_SECOND * TOKENS_PER_DOCUMENT
    capacity = Capacity(documents_per_second=DOCUMENTS_PER_SECOND, tokens_per_second=speed, slo_ms=SLO_MS)
    return AutoscalingPlan(
        policy=policy_for(capacity, limits=Limits(minimum_tasks=2, maximum_tasks=10)),
        phases=(
            Phase("before", seconds=60.0, rate=BASE_PER_SECOND),
            Phase(f"{STEP} times", seconds=high_seconds, rate=BASE_PER_SECOND * STEP),
            Phase("after", seconds=low_seconds, rate=BASE_PER_SECOND),
        ),
        period_seconds=PERIOD_SECONDS,
        tokens_per_second=speed,
    )


def main() -> int:
    """Run the test, print the timeline, write the plot; 1 if a requirement does not hold."""
    parser = argparse.ArgumentParser(prog="python -m loadtest.scaling", description=__doc__)
    parser.add_argument("--high-seconds", type=float, default=240.0, help="how long the load stays high")
    parser.add_argument("--low-seconds", type=float, default=540.0, help="how long it stays low again")
    parser.add_argument("--plot", type=Path, help="the SVG file to write")
    chosen = parser.parse_args()
    end_on_sigterm()
    plan, timeline = plan_for(chosen.high_seconds, chosen.low_seconds), Timeline()
    assessment = asyncio.run(run_autoscaling_test(plan, timeline))
    print("\n" + "\n".join(assessment.lines()))
    if chosen.plot:
        target = plan.policy.targets.work_ratio
        chosen.plot.write_text(plot(timeline.rows, timeline.events, plan.phases, DOCUMENTS_PER_SECOND, target))
    for problem in assessment.problems:
        print(f"autoscaling test: {problem}", file=sys.stderr)
    return 1 if assessment.problems else 0


if __name__ == "__main__":
    sys.exit(main())
