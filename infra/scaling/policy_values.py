"""Values of a scaling policy: steps, limits, delays, thresholds, each with its reason. Pure data."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from enum import StrEnum

from infra.scaling.alarm_evaluation import Alarm
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


class Forecast(StrEnum):
    """AWS's predictive scaling: daily and weekly cycles, learnt from at least a day of history. It only ever adds."""

    OFF = "off"
    LOOK = "ForecastOnly"
    """Forecasts are shown and not acted upon: the way to begin."""
    ACT = "ForecastAndScale"


_CRON = re.compile(
    r"(?P<minute>[0-5]?\d) (?P<hour>1?\d|2[0-3]) (?P<day>\?|\*|[12]?\d|3[01]) (?P<month>\*|[A-Z]{3}(-[A-Z]{3})?) "
    r"(?P<weekday>\?|\*|[A-Z]{3}(-[A-Z]{3})?(,[A-Z]{3}(-[A-Z]{3})?)*) \*"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A minimum number of tasks from a time of day on.

    `cron` has AWS's six fields: minute, hour, day of the month, month, weekday, year; one of the two days is `?`. Days
    and months go by name, because numbers mean other days to Auto Scaling groups than to ECS.
    """

    name: str
    cron: str
    timezone: str
    minimum_tasks: int

    def __post_init__(self) -> None:
        fields = self._fields()
        if (fields["day"] == "?") == (fields["weekday"] == "?"):
            raise ValueError(f"schedule {self.name}: exactly one of day and weekday is `?` in {self.cron!r}")
        if self.minimum_tasks < 2:
            raise ValueError(f"schedule {self.name}: a fleet has at least 2 tasks")

    @property
    def unix_cron(self) -> str:
        """The cron expression in five fields, as Auto Scaling groups take it."""
        fields = {name: "*" if value == "?" else value for name, value in self._fields().items()}
        return " ".join(fields[name] for name in ("minute", "hour", "day", "month", "weekday"))

    def _fields(self) -> dict[str, str]:
        found = _CRON.fullmatch(self.cron)
        if found is None:
            raise ValueError(f"schedule {self.name}: {self.cron!r} is not `minute hour day month weekday *`")
        return {name: str(value) for name, value in found.groupdict().items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Smallest and largest number of tasks. Two at least: one instance, or one zone, may fail at any time.

    Or none: a fleet for bulk jobs alone, whose first task is started for the first chunk in the queue.
    """

    minimum_tasks: int = 2
    maximum_tasks: int = 10

    def __post_init__(self) -> None:
        if self.minimum_tasks == 1 or not 0 <= self.minimum_tasks <= self.maximum_tasks or not self.maximum_tasks:
            raise ValueError(f"a fleet has at least 2 tasks, or 0, and no more than its maximum, not {self}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Delays:
    """Durations in the cloud: waits of the simulator, and parts of budgets.

    Attributes:
        ingest: from PutMetricData to an alarm that sees it.
        capacity_provider: from a task without an instance to the instance asked for: ECS looks once a minute.
        warm_start: a stopped instance of the warm pool → a task that answers (30 to 80 s).
        cold_start: a new instance that pulls an image of 8 GB (boot about 130 s, pull 10 to 19 s per GB).
        baked_start: a new instance whose machine image has the container image in it.
        start: the whole of it, for the fleet in question; what was added must come before more is asked for.
        ready: from a container's start to a warm model; until then the balancer's opinion does not count.
        longest_request: the deadline of a request that names none; everything that cuts connections waits longer.
        drain_grace: after SIGTERM a balancer still sends for a second or two.
        stop_slack: what the service takes to end after its last answer.
    """

    ingest_seconds: float = 5.0
    capacity_provider_seconds: float = 75.0
    warm_start_seconds: float = 60.0
    cold_start_seconds: float = 260.0
    baked_start_seconds: float = 150.0
    start_seconds: float = 60.0
    ready_seconds: int = 300
    longest_request_seconds: int = 300
    drain_grace_seconds: int = 5
    stop_slack_seconds: int = 25

    def starting(self, *, warm: bool, managed: bool, baked: bool = False) -> Delays:
        """The delays with `start_seconds` summed up.

        Args:
            warm: a usual step comes out of the warm pool.
            managed: ECS's capacity provider asks for the instances.
            baked: their machine image has the container image in it.
        """
        wait = self.capacity_provider_seconds if managed else 0.0
        new = self.baked_start_seconds if baked else self.cold_start_seconds
        return replace(self, start_seconds=wait + (self.warm_start_seconds if warm else new))

    @property
    def scale_out_cooldown_seconds(self) -> int:
        """A start, and half a minute in which the averages come down."""
        return math.ceil(self.start_seconds) + 30

    @property
    def stop_seconds(self) -> int:
        """Seconds from SIGTERM to SIGKILL: grace, the longest request, and the way out."""
        return self.drain_grace_seconds + self.longest_request_seconds + self.stop_slack_seconds

    @property
    def deregistration_seconds(self) -> int:
        """Seconds for which a balancer leaves a parting task its open requests: as long as the longest.

        It seldom ends sooner, since the balancer keeps idle connections open, so every task that ends takes this long.
        """
        return self.longest_request_seconds

    @property
    def idle_seconds(self) -> int:
        """After how long without a byte a balancer gives a connection up: an answer may take the longest time."""
        return self.longest_request_seconds + 20


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
        slo_seconds: the limit on the 99th percentile of requests.
    """

    work_ratio: float
    scale_out_work_ratio: float
    scale_in_work_ratio: float
    backlog_seconds: float
    queue_depth: float
    gpu_percent: float = 95.0
    gpu_target: int = 0
    slo_seconds: float


BURSTY = Tuning()
"""Tuning for demands that may jump; the default."""
STEADY = Tuning(work_ratio=0.8, before_a_step=0.9, scale_in_share=0.8125, quiet_seconds=600, gpu_veto=False)
"""Tuning for demands that instances can follow: a daily wave, a slow trend."""
