"""Values of a scaling policy: steps, target tracking, its tuning, thresholds, each with its reason. Pure data."""

from __future__ import annotations

import math
from dataclasses import dataclass

from infra.scaling.alarm_values import Alarm
from service.signals.catalog import SCALE_IN_WORK_RATIO, STEP_WORK_RATIO, TARGET_WORK_RATIO, Signal


@dataclass(frozen=True, slots=True)
class Step:
    """A change by `percent` for a value in [lower, upper) above the alarm's threshold (below it: negative bounds).

    None stands for no bound on that side.
    """

    lower: float | None
    upper: float | None
    percent: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepScaling:
    """A change of the number of tasks by an alarm.

    Attributes:
        at_least: minimum number of tasks to add or remove, since a quarter of two is less than one.
        cooldown_seconds: how long added tasks count as not yet there, so that a shortage is answered once.
    """

    alarm: Alarm
    steps: tuple[Step, ...]
    at_least: int = 1
    cooldown_seconds: int

    def change(self, value: float, tasks: int) -> int:
        """Tasks to add (or, negative, to remove) when the alarm acts at this value."""
        beyond = value - self.alarm.conditions[0].threshold
        for step in self.steps:
            if (step.lower is None or beyond >= step.lower) and (step.upper is None or beyond < step.upper):
                amount = max(math.floor(tasks * abs(step.percent) / 100), self.at_least)
                return amount if step.percent > 0 else -amount
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetTracking:
    """Keep a signal's sum over the tasks that are *wanted* at a target: those that start carry their share soon.

    Over the tasks that are there, a minute-old average asks again for what the steps have already added. It only ever
    scales out: `StepScaling` scales in.
    """

    signal: Signal
    target: float
    cooldown_seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """The values of a policy that no capacity gives.

    Attributes:
        work_ratio: the most that target tracking keeps; less where the limit on latency is missed earlier.
        before_a_step: the most above which a step is taken; below 1, where the queue already grows.
        scale_in_share: tasks are removed below this share of the target.
        quiet_seconds: how long that must hold.
        scale_in_percent: of the tasks, removed at once.
        gpu_veto: whether a saturated GPU forbids removing tasks.
        gpu_target: percent of utilization that target tracking keeps, too; 0: none, as a batching server shows 71 at a
            fifth of its capacity. `gleaner simulate` says what it costs.
    """

    work_ratio: float = TARGET_WORK_RATIO
    before_a_step: float = STEP_WORK_RATIO
    scale_in_share: float = SCALE_IN_WORK_RATIO / TARGET_WORK_RATIO
    quiet_seconds: int = 300
    scale_in_percent: int = 10
    gpu_veto: bool = True
    gpu_target: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.gpu_target < 100:
            raise ValueError(f"gpu_target is a percentage below 100, or 0 for none, not {self.gpu_target}")
        if not 0 < self.scale_in_share < 1 or not 0 < self.work_ratio < self.before_a_step < 1:
            raise ValueError(f"scaling in begins below the target, and a step above it and below 1, not {self}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """Thresholds, computed from a measured capacity; each with its reason.

    Attributes:
        work_ratio: what target tracking keeps.
        scale_out_work_ratio: above it a step is taken.
        scale_in_work_ratio: a fleet of two thirds its size is then still under the target.
        backlog_seconds: what waits needs longer than a caller is willing to wait.
        queue_depth: documents per task that take the same time.
        gpu_percent: saturated by NVML's measure; a healthy batching server reads 95 at 40 % of its capacity.
        gpu_target: that target tracking keeps; 0: none.
        slo_seconds: the limit on the 99th percentile of requests; None where no capacity was measured by it.
    """

    work_ratio: float
    scale_out_work_ratio: float
    scale_in_work_ratio: float
    backlog_seconds: float
    queue_depth: float
    gpu_percent: float = 95.0
    gpu_target: int = 0
    slo_seconds: float | None


BURSTY = Tuning()
"""Tuning for demands that may jump; the default."""
STEADY = Tuning(work_ratio=0.8, before_a_step=0.9, scale_in_share=0.8125, quiet_seconds=600, gpu_veto=False)
"""Tuning for demands that instances can follow: a daily wave, a slow trend."""
