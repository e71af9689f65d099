"""One rehearsal: services, balancer, load and controller in one event loop.

The controller is CloudWatch and Auto Scaling: every period it takes what each task would publish, waits as long as
points take to arrive, lets `infra.scaling.autoscaler` judge the policy's own alarms, and does what was decided.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from infra.scaling.alarms import Series
from infra.scaling.autoscaler import Autoscaler, Decision
from infra.scaling.policy import Policy
from loadtest.scaling.assessment import Assessment, assess
from loadtest.scaling.balancer import Balancer
from loadtest.scaling.load import Phase, send_all
from loadtest.scaling.local_fleet import LocalFleet
from loadtest.scaling.timeline import Timeline, TimelineRow
from service.signals.catalog import BACKLOG_SECONDS, GPU_UTILIZATION, QUEUE_DEPTH, WORK_RATIO, Signal

START_ALLOWANCE_SECONDS = 10.0
"""Of a start's delay, what the process itself takes here; the rest is the instance's boot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalPlan:
    """What is rehearsed.

    Attributes:
        period_seconds: how often tasks publish and alarms are judged.
        tokens_per_second: what one task's device is bounded to.
    """

    policy: Policy
    phases: tuple[Phase, Phase, Phase]
    period_seconds: float
    tokens_per_second: float
    drain_grace_seconds: float = 5.0


def settings_of(plan: RehearsalPlan) -> dict[str, str]:
    """A task's settings: one thread, a small batch, and a device that is made slow."""
    values = {
        "DEVICE": "cpu",
        "THREADS": 1,
        "WORKERS": 1,
        "PARSERS": 1,
        "BATCH_TOKENS": 256,
        "WINDOW_TOKENS": 256,
        "OVERLAP_TOKENS": 32,
        "PACE_TOKENS_PER_SECOND": plan.tokens_per_second,
        "DRAIN_GRACE_SECONDS": plan.drain_grace_seconds,
        "DRAIN_SECONDS": plan.policy.delays.longest_request_seconds,
        "LOG_LEVEL": "WARNING",
    }
    return {f"GLEANER_{name}": str(value) for name, value in values.items()}


class ScalingController:
    """Judges and acts, once a period."""

    def __init__(self, plan: RehearsalPlan, fleet: LocalFleet, timeline: Timeline) -> None:
        self._plan, self._fleet, self._timeline = plan, fleet, timeline
        self._series = Series()
        self._scaler = Autoscaler(plan.policy, plan.policy.limits.minimum_tasks)
        self.decisions: list[Decision] = []

    async def run(self) -> None:
        """Until cancelled."""
        period = self._plan.period_seconds
        tick = 0.0
        while True:
            tick += period
            await asyncio.sleep(max(self._timeline.begun + tick - time.monotonic(), 0.0))
            published = await self._fleet.publish()
            for values in published:
                self._series.add(tick, values)
            await asyncio.sleep(min(self._plan.policy.delays.ingest_seconds, period / 2))
            self._decide(tick)
            self._timeline.add(self._row(tick, published))

    def _decide(self, tick: float) -> None:
        decision = self._scaler.decide(self._series, tick)
        if decision is None:
            return
        now = self._timeline.now()
        self.decisions.append(replace(decision, at_seconds=now))
        self._timeline.note(
            f"{decision.by} at {decision.value:.2f}: {decision.tasks_before} → {decision.tasks_after} tasks"
        )
        self._fleet.want(decision.tasks_after)

    def _row(self, tick: float, published: Sequence[Mapping[Signal, float]]) -> TimelineRow:
        slowest, answered, failed = self._timeline.take_answers()
        return TimelineRow(
            at_seconds=tick,
            per_second=_rate_at(self._plan.phases, tick),
            wanted=self._scaler.wanted,
            serving=self._fleet.serving,
            work_ratio=_mean(published, WORK_RATIO),
            backlog_seconds=_mean(published, BACKLOG_SECONDS),
            queue_depth=_mean(published, QUEUE_DEPTH),
            busy_percent=_mean(published, GPU_UTILIZATION),
            slowest_seconds=slowest,
            answered=answered,
            failed=failed,
            sounding=self._scaler.sounding,
        )


async def rehearse(plan: RehearsalPlan, timeline: Timeline) -> Assessment:
    """Run the plan; takes as long as its phases, and the start of the first tasks."""
    balancer = Balancer()
    await balancer.start()
    home = Path(tempfile.mkdtemp(prefix="gleaner-rehearsal-"))
    delays = plan.policy.delays
    fleet = LocalFleet(
        balancer,
        timeline,
        settings_of(plan),
        home,
        boot_seconds=max(delays.start_seconds - START_ALLOWANCE_SECONDS, 0.0),
        deregistration_seconds=delays.deregistration_seconds,
    )
    try:
        minimum = plan.policy.limits.minimum_tasks
        fleet.want(minimum, at_once=True)
        await fleet.wait_until_serving(minimum)
        timeline.start()
        controller = ScalingController(plan, fleet, timeline)
        judging = asyncio.create_task(controller.run())
        answers = await send_all(balancer.port, plan.phases, timeline)
        judging.cancel()
        await fleet.close()
        codes = [task.exit_code or 0 for task in fleet.tasks]
        settle = plan.policy.delays.scale_out_cooldown_seconds
        return assess(plan.phases, controller.decisions, answers, codes, settle_seconds=settle)
    finally:
        fleet.kill()
        await balancer.stop()


def _rate_at(phases: tuple[Phase, ...], at: float) -> float:
    for phase in phases:
        if at <= phase.seconds:
            return phase.per_second
        at -= phase.seconds
    return 0.0


def _mean(published: Sequence[Mapping[Signal, float]], signal: Signal) -> float:
    found = [values[signal] for values in published if signal in values]
    return sum(found) / len(found) if found else 0.0
