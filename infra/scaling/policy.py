"""The scaling policy as data: one object that the stacks and the simulator read.

    scale out   work ratio, in proportion                                                       (20 s)
                backlog, queue depth: where work ratio does not explain what waits              (30 s)
                GPU saturated while documents wait                                              (60 s)
                target tracking on work per task, as the second opinion                         (minutes)
                bulk: more tasks wanted by a job's deadline than there are                      (60 s)
    scale in    only when all agree: little work, nothing waits, the GPU is not saturated        (5 minutes)

Work ratio and backlog are those of the stage that has most: the device, the API workers, or the parsers.
Work ratio is proportional to load, so it gives *how many* tasks are needed; a queue shows *that* something is wrong.
GPU utilization is the share of time in which a kernel ran: a batching server shows 95 % at 40 % of its capacity, so a
target on it would buy a fleet several times too large. It acts where it is informative: as a veto on scaling in, and,
together with a queue, as a reason to scale out that does not depend on our own measure of capacity.

Bulk work fills what room is left, so the work ratio leaves it out, and with a bulk queue the GPU, which is then always
busy, decides nothing. A job with a deadline asks for tasks by `BulkTasksWanted`; no more go than it leaves over.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import pairwise

from infra.scaling.alarm_values import Alarm, Comparison, Condition, Statistic
from infra.scaling.capacity import ASSUMED, Capacity
from infra.scaling.limits import Delays, Forecast, Limits, Schedule
from infra.scaling.policy_values import BURSTY, Step, StepScaling, Targets, TargetTracking, Tuning
from service.signals.catalog import (
    BACKLOG_SECONDS,
    BULK_TASKS_WANTED,
    GPU_UTILIZATION,
    OLDEST_AGE_SECONDS,
    PERIOD_SECONDS,
    QUEUE_DEPTH,
    STAGES,
    WORK_RATIO,
    Signal,
)

HEADROOM = 0.8
"""Share of the work ratio at which the limit on latency is just held: room for a burst while the fleet grows."""


def targets_for(capacity: Capacity, tuning: Tuning = BURSTY) -> Targets:
    """The thresholds that follow from a measured capacity.

    Where the limit on latency is missed long before the device is full, tasks are kept emptier in proportion.
    The backlog that is worth another task is ten times the limit on latency, within 2 and 30 s: shorter ones are gone
    before a task could help.
    """
    backlog = min(max(capacity.slo_ms / 1000 * 10, 2.0), 30.0)
    work_ratio = min(tuning.work_ratio, round(HEADROOM * capacity.knee_ratio, 3))
    return Targets(
        work_ratio=work_ratio,
        scale_out_work_ratio=min(tuning.before_a_step, round(capacity.knee_ratio, 3)),
        scale_in_work_ratio=round(work_ratio * tuning.scale_in_share, 3),
        backlog_seconds=backlog,
        queue_depth=max(math.ceil(capacity.documents_per_second * backlog), 2),
        slo_seconds=capacity.slo_ms / 1000 if capacity.is_measured else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Everything that decides how many tasks there are.

    Attributes:
        bulk_tasks: most tasks that a bulk job's deadline may ask for, 0 for none; None: there is no bulk queue.
    """

    limits: Limits
    delays: Delays
    targets: Targets
    scale_out: tuple[StepScaling, ...]
    scale_in: StepScaling
    tracking: TargetTracking
    schedules: tuple[Schedule, ...] = ()
    forecast: Forecast = Forecast.OFF
    capacity: Capacity = field(default=ASSUMED)
    bulk_tasks: int | None = None

    @property
    def steps(self) -> tuple[StepScaling, ...]:
        """All policies that act on alarms."""
        return (*self.scale_out, self.scale_in)


def policy_for(
    capacity: Capacity = ASSUMED,
    limits: Limits | None = None,
    delays: Delays | None = None,
    schedules: tuple[Schedule, ...] = (),
    forecast: Forecast = Forecast.OFF,
    tuning: Tuning = BURSTY,
    bulk_tasks: int | None = None,
) -> Policy:
    """The policy of a fleet whose tasks have this capacity."""
    targets, delays = targets_for(capacity, tuning), delays or Delays()
    cooldown = delays.scale_out_cooldown_seconds
    made = Policy(
        limits=limits or Limits(),
        delays=delays,
        targets=targets,
        scale_out=tuple(by(targets, cooldown) for by in (_by_work, _by_backlog, _by_queue, _by_gpu)),
        scale_in=_when_idle(targets, tuning),
        tracking=TargetTracking(signal=WORK_RATIO, target=targets.work_ratio, cooldown_seconds=cooldown),
        schedules=schedules,
        forecast=forecast,
        capacity=capacity,
    )
    made = made if bulk_tasks is None else with_bulk(made, bulk_tasks)
    return with_gpu_target(made, tuning.gpu_target) if tuning.gpu_target else made


def with_gpu_target(policy: Policy, percent: int) -> Policy:
    """The policy with target tracking on GPU utilization beside its own; 0 takes it away again.

    Tasks are then removed only where utilization is as far below its target as work is: else they would be added anew.
    """
    targets, alarm = policy.targets, policy.scale_in.alarm
    limit = round(percent * targets.scale_in_work_ratio / targets.work_ratio, 1) if percent else targets.gpu_percent
    others = tuple(each for each in alarm.conditions if each.signal is not GPU_UTILIZATION)
    idle = replace(alarm, conditions=(*others, _below(GPU_UTILIZATION, limit)))
    return replace(
        policy,
        targets=replace(targets, gpu_target=percent),
        scale_in=replace(policy.scale_in, alarm=idle),
    )


def with_bulk(policy: Policy, most_tasks: int) -> Policy:
    """The policy with a bulk queue, whose deadlines may ask for this many tasks.

    Bulk keeps GPUs busy, and a queue on every task. So the GPU decides nothing, and a queue adds tasks only while other
    work could be what waits, and keeps none. Tasks are removed down to what a deadline needs.
    """
    without = (GPU_UTILIZATION, BULK_TASKS_WANTED)
    steps = [step for step in policy.scale_out if step.alarm.conditions[0].signal not in without]
    idle, limit = policy.scale_in.alarm, policy.targets.scale_in_work_ratio
    left_over = replace(
        idle,
        conditions=(_below(WORK_RATIO, limit), _wanted_over_present(Comparison.BELOW)),
        meaning="Little work but bulk for every stage, and no bulk job's deadline needs the tasks.",
    )
    return replace(
        policy,
        scale_out=(*(_while_others_work(step, limit) for step in steps), *_by_bulk(policy.delays, most_tasks)),
        scale_in=replace(policy.scale_in, alarm=left_over),
        bulk_tasks=most_tasks,
    )


def _while_others_work(step: StepScaling, work_ratio: float) -> StepScaling:
    """The step; if it is one by a queue, only while other work than bulk reaches this work ratio."""
    first, *others = step.alarm.conditions
    if first.signal is WORK_RATIO:
        return step
    enough = Condition(WORK_RATIO, Statistic.AVERAGE, Comparison.AT_LEAST, work_ratio)
    kept = [each for each in others if each.comparison is not Comparison.AT_LEAST]
    return replace(step, alarm=replace(step.alarm, conditions=(first, *kept, enough)))


STEP_EDGES = (1.0, 1.2, 1.5, 1.8, 2.1, 2.5, 2.9, 3.5, 4.3, 5.4, 6.7, 8.3, 10.0)
"""Edges of the steps, as multiples of the ratio above which one is taken: each about a fifth above the one
before, so that no step lands near the threshold for scaling in. The open step is computed for the last."""


def _by_work(targets: Targets, cooldown_seconds: int) -> StepScaling:
    """Proportional: enough tasks for the upper end of each step to come down to the target."""
    base = targets.scale_out_work_ratio
    *steps, largest = (
        Step(round(lower - base, 6), round(upper - base, 6), math.ceil(100 * (upper / targets.work_ratio - 1)))
        for lower, upper in pairwise(base * edge for edge in STEP_EDGES)
    )
    return StepScaling(
        alarm=Alarm(
            name="work-ratio-high",
            conditions=(_above(WORK_RATIO, base),),
            periods=2,
            meaning="Each task is asked for more work than one of its stages should carry: device, workers or parsers.",
            remedy="Tasks are added in proportion. If the fleet is at its maximum, raise it. Which stage is it? "
            f"{', '.join(each.name for each in STAGES.values())} say so; if it is never compute, take more vCPUs.",
        ),
        steps=(*steps, replace(largest, upper=None)),
        cooldown_seconds=cooldown_seconds,
    )


def _by_backlog(targets: Targets, cooldown_seconds: int) -> StepScaling:
    limit = targets.backlog_seconds
    return StepScaling(
        alarm=Alarm(
            name="backlog-high",
            conditions=(_all_above(BACKLOG_SECONDS, limit), _not_explained_by_work(targets)),
            periods=3,
            meaning="On every task, what waits for the device, with recent refusals, or for the parsers takes "
            "longer than callers like to wait.",
            remedy="Tasks are added. Work ratio low at the same time: a mountain that came at once, or a slower GPU.",
        ),
        steps=(Step(0.0, 3 * limit, 50), Step(3 * limit, None, 100)),
        cooldown_seconds=cooldown_seconds,
    )


def _by_queue(targets: Targets, cooldown_seconds: int) -> StepScaling:
    return StepScaling(
        alarm=Alarm(
            name="queue-depth-high",
            conditions=(_all_above(QUEUE_DEPTH, targets.queue_depth), _not_explained_by_work(targets)),
            periods=3,
            meaning="Documents pile up on every task, so a new one would have to wait wherever it went.",
            remedy="Tasks are added.",
        ),
        steps=(Step(0.0, None, 50),),
        cooldown_seconds=cooldown_seconds,
    )


def _by_gpu(targets: Targets, cooldown_seconds: int) -> StepScaling:
    """A minute, not 20 s: a saturated GPU with a short queue is what a good batching server looks like."""
    return StepScaling(
        alarm=Alarm(
            name="gpu-saturated",
            conditions=(
                Condition(GPU_UTILIZATION, Statistic.AVERAGE, Comparison.AT_LEAST, targets.gpu_percent),
                _all_above(OLDEST_AGE_SECONDS, targets.backlog_seconds / 2),
                _not_explained_by_work(targets),
            ),
            periods=6,
            meaning="The GPUs run without a pause and documents wait, whatever our own measure of capacity says.",
            remedy="A quarter more tasks. Does another process use the GPU? Is it throttled (nvidia-smi -q -d CLOCK)?",
        ),
        steps=(Step(0.0, None, 25),),
        cooldown_seconds=cooldown_seconds,
    )


def _by_bulk(delays: Delays, most_tasks: int) -> tuple[StepScaling, ...]:
    """Make steps in proportion: a step's upper end comes down to the wanted number. None if deadlines add no tasks."""
    *steps, largest = (
        Step(round(lower - 1, 6), round(upper - 1, 6), math.ceil(round(100 * (upper - 1), 6)))
        for lower, upper in pairwise(STEP_EDGES)
    )
    alarm = Alarm(
        name="bulk-behind",
        conditions=(_wanted_over_present(Comparison.ABOVE),),
        periods=6,
        meaning="A bulk job would miss its deadline with the tasks that there are.",
        remedy="Tasks are added, as many as the deadline needs and `tasks` of the environment's `bulk` allows.",
    )
    step = StepScaling(
        alarm=alarm,
        steps=(*steps, replace(largest, upper=None)),
        cooldown_seconds=delays.scale_out_cooldown_seconds,
    )
    return (step,) if most_tasks else ()


def _wanted_over_present(comparison: Comparison) -> Condition:
    """Every task says how many are wanted; as many points as tasks come in a period."""
    return Condition(BULK_TASKS_WANTED, Statistic.AVERAGE, comparison, 1.0, per=BULK_TASKS_WANTED)


def _when_idle(targets: Targets, tuning: Tuning) -> StepScaling:
    """A part at a time, after quiet minutes: what is removed costs minutes to get back."""
    permission = (_below(GPU_UTILIZATION, targets.gpu_percent),) if tuning.gpu_veto else ()
    agree = ", and the GPUs agree" if tuning.gpu_veto else ""
    return StepScaling(
        alarm=Alarm(
            name="idle",
            conditions=(_below(WORK_RATIO, targets.scale_in_work_ratio), _below(BACKLOG_SECONDS, 1.0), *permission),
            periods=tuning.quiet_seconds // PERIOD_SECONDS,
            meaning=f"Little work for every stage, nothing waits{agree}.",
            remedy=f"{tuning.scale_in_percent} % of the tasks are removed, one at least, down to the minimum. "
            "No action needed.",
        ),
        steps=(Step(None, 0.0, -tuning.scale_in_percent),),
        cooldown_seconds=120,
    )


def _not_explained_by_work(targets: Targets) -> Condition:
    """Condition that the work ratio is low: while it is high, its own step is taken, and a queue is to be expected."""
    return Condition(WORK_RATIO, Statistic.AVERAGE, Comparison.AT_MOST, targets.scale_out_work_ratio)


def _above(signal: Signal, threshold: float) -> Condition:
    return Condition(signal, Statistic.AVERAGE, Comparison.ABOVE, threshold)


def _all_above(signal: Signal, threshold: float) -> Condition:
    """Make a condition on the shortest queue: work that waits on one task is none for an added task."""
    return Condition(signal, Statistic.MINIMUM, Comparison.ABOVE, threshold)


def _below(signal: Signal, threshold: float) -> Condition:
    return Condition(signal, Statistic.AVERAGE, Comparison.BELOW, threshold)
