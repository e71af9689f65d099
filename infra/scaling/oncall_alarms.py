"""On-call alarms as data: what each means and what to do. The scaling alarms are in `policy`. Pure.

`alarms_for` compares the service's own signals with thresholds, `Shortfall` what AWS says is wanted with what is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from infra.scaling.alarm_values import POINTS_A_MINUTE, Alarm, Comparison, Condition, Missing, Statistic
from infra.scaling.policy import Policy
from service.signals.catalog import (
    GPU_LOST,
    GPU_MEMORY_UTILIZATION,
    GPU_UTILIZATION,
    MEMORY_SPLITS,
    REFUSALS,
    REQUEST_SECONDS,
    REQUESTS,
    RESTARTS,
    STAGES,
    WORK_RATIO,
    Kind,
    Signal,
    Unit,
)

MINUTE = 60


MOST_REFUSED = 0.01
"""Most refused documents for each request."""
FEWEST_REQUESTS = 100
"""Fewest requests a minute for a 99th percentile: of twenty it is the slowest one, a long file."""
OLDEST_INSTANCE_DAYS = 45
INSTANCE_DAYS = Signal("InstanceDays", Unit.COUNT, Kind.LEVEL)
"""Days since an instance's boot, sent once an hour by its watch (`stacks/user_data.py`)."""


def points_of(tasks: int) -> int:
    """Fewest points in a minute of as many tasks; one may lie beyond the minute's edge."""
    return tasks * POINTS_A_MINUTE - 1


NEED_TASKS = ("metrics-missing", "gpu-unseen")
"""Alarms over points that are missing: in a fleet that may have no tasks they would call somebody every night."""


def alarms_for(policy: Policy) -> tuple[Alarm, ...]:
    """All alarms that notify a person, the worst first."""
    return tuple(each for each in _alarms(policy) if policy.limits.minimum_tasks or each.name not in NEED_TASKS)


def _alarms(policy: Policy) -> tuple[Alarm, ...]:
    targets, limits = policy.targets, policy.limits
    fewest = points_of(limits.minimum_tasks)
    return (
        Alarm(
            name="metrics-missing",
            conditions=(Condition(WORK_RATIO, Statistic.SAMPLE_COUNT, Comparison.BELOW, fewest),),
            periods=3,
            period_seconds=MINUTE,
            missing=Missing.BREACHING,
            meaning="Fewer tasks than the minimum have published in three minutes (each publishes six times a minute).",
            remedy="Look at the service's events for tasks that cannot start, then at the last log lines of one. "
            "Scaling is blind meanwhile: set the desired count by hand if there is load.",
        ),
        *_latency(targets.slo_seconds),
        Alarm(
            name="refusals",
            conditions=(Condition(REFUSALS, Statistic.SUM, Comparison.ABOVE, MOST_REFUSED, per=REQUESTS),),
            periods=2,
            period_seconds=MINUTE,
            meaning="More than one document for each hundred requests is turned away: the queue is full or "
            "deadlines are out of reach.",
            remedy="Is the fleet at its maximum? Raise it. Is it starting? Callers retry after the time they are told. "
            "Does one client ask with deadlines that nobody could keep? The log names it.",
        ),
        _counted(
            RESTARTS,
            "engine-restarts",
            "An engine died and was started again; what was pending was computed anew, nothing was lost.",
            "Search the logs for `the engine died`. A document that two engines died on is refused as poison.",
        ),
        _counted(
            MEMORY_SPLITS,
            "memory-splits",
            "A batch did not fit the GPU's memory and was split; answers were right, but late.",
            "Does another process use the GPU? If not, lower GLEANER_MEMORY_FRACTION and report the model.",
            periods=3,
        ),
        Alarm(
            name="gpu-lost",
            conditions=(Condition(GPU_LOST, Statistic.MAXIMUM, Comparison.AT_LEAST, 1.0),),
            periods=3,
            meaning="A GPU no longer answers (fell off the bus, needs a reset).",
            remedy="The task is unhealthy and gets replaced, and after three minutes its instance as well, which asks "
            "its GPU by itself. If it stays: `aws autoscaling set-instance-health --health-status Unhealthy`.",
        ),
        Alarm(
            name="gpu-unseen",
            conditions=(Condition(GPU_UTILIZATION, Statistic.SAMPLE_COUNT, Comparison.BELOW, fewest),),
            periods=15,
            period_seconds=MINUTE,
            missing=Missing.BREACHING,
            meaning="For a quarter of an hour GPUs were not measured, though tasks may be well: without this metric "
            "the fleet never shrinks.",
            remedy="Are there tasks (metrics-missing)? Then NVML: driver, NVIDIA_DRIVER_CAPABILITIES with `utility`, "
            "GLEANER_GPU_WATCH.",
        ),
        Alarm(
            name="gpu-memory-high",
            conditions=(Condition(GPU_MEMORY_UTILIZATION, Statistic.MAXIMUM, Comparison.ABOVE, 97.0),),
            periods=5,
            period_seconds=MINUTE,
            meaning="A GPU's memory has been all but full for five minutes: more than the memory guard would take.",
            remedy="Does another process use the GPU? Else lower GLEANER_MEMORY_FRACTION.",
        ),
        Alarm(
            name="instances-old",
            conditions=(Condition(INSTANCE_DAYS, Statistic.MAXIMUM, Comparison.ABOVE, OLDEST_INSTANCE_DAYS),),
            periods=1,
            period_seconds=24 * 60 * MINUTE,
            meaning=f"An instance has run for more than {OLDEST_INSTANCE_DAYS} days, without the patches since.",
            remedy="Deploy: a new machine image replaces all instances, one after the other.",
        ),
        Alarm(
            name="at-maximum",
            conditions=(
                Condition(WORK_RATIO, Statistic.SAMPLE_COUNT, Comparison.AT_LEAST, points_of(limits.maximum_tasks)),
                Condition(WORK_RATIO, Statistic.AVERAGE, Comparison.ABOVE, targets.scale_out_work_ratio),
            ),
            periods=5,
            period_seconds=MINUTE,
            meaning="All tasks that the limit allows are there, and they are too few.",
            remedy="Raise maximum_tasks in infra/environments.py and deploy; mind the account's quota of G vCPUs. "
            f"Which stage is it? {', '.join(each.name for each in STAGES.values())} say so.",
        ),
    )


def _latency(slo_seconds: float | None) -> tuple[Alarm, ...]:
    """The alarm on slow requests; none where no limit was measured, as a scan may well take half a minute."""
    if slo_seconds is None:
        return ()
    alarm = Alarm(
        name="latency-slo",
        conditions=(
            Condition(REQUEST_SECONDS, Statistic.P99, Comparison.ABOVE, slo_seconds),
            Condition(REQUEST_SECONDS, Statistic.SAMPLE_COUNT, Comparison.AT_LEAST, FEWEST_REQUESTS),
        ),
        periods=5,
        datapoints=3,
        period_seconds=MINUTE,
        meaning="The slowest hundredth of a hundred requests and more took longer than the limit of the capacity file, "
        "in three of five minutes. Batch work and scans do not count.",
        remedy="Which stage is slow: parse, tokenize, queue, compute or decode? Queue: is the fleet at its "
        "maximum, or starting? Parse or compute: which documents came?",
    )
    return (alarm,)


def rollback_alarms(policy: Policy) -> tuple[str, ...]:
    """Names of the alarms that a bad release sets off: a deployment during which one is in ALARM is rolled back.

    Not `refusals`: under overload a release, which may be the remedy, would be rolled back for the load.
    """
    bad = {"latency-slo", "engine-restarts", "memory-splits"}
    return tuple(alarm.name for alarm in alarms_for(policy) if alarm.name in bad)


def _counted(signal: Signal, name: str, meaning: str, remedy: str, periods: int = 1) -> Alarm:
    """Alarm on an event that should not happen at all, by the minute."""
    return Alarm(
        name=name,
        conditions=(Condition(signal, Statistic.SUM, Comparison.ABOVE, 0.0),),
        periods=periods,
        period_seconds=MINUTE,
        meaning=meaning,
        remedy=remedy,
    )


@dataclass(frozen=True, slots=True)
class PlatformMetric:
    """One metric of an AWS service."""

    namespace: str
    name: str
    dimensions: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """An alarm while `wanted` is above `present`.

    Attributes:
        periods: minutes in a row. A cold start takes six, and is no trouble.
        missing: of both; it sounds, unless the fleet may have no tasks, of which AWS publishes neither.
    """

    name: str
    wanted: PlatformMetric
    present: PlatformMetric
    periods: int = 10
    period_seconds: int = MINUTE
    missing: Missing = Missing.BREACHING
    meaning: str
    remedy: str


def tasks_missing(cluster: str, service: str, minimum_tasks: int = 2) -> Shortfall:
    """Alarm on tasks that ECS cannot start."""
    of = {"ClusterName": cluster, "ServiceName": service}
    return Shortfall(
        name="tasks-missing",
        wanted=PlatformMetric("ECS/ContainerInsights", "DesiredTaskCount", of),
        present=PlatformMetric("ECS/ContainerInsights", "RunningTaskCount", of),
        missing=Missing.BREACHING if minimum_tasks else Missing.NOT_BREACHING,
        meaning="For ten minutes fewer tasks run than are wanted: longer than a cold start takes.",
        remedy="No instance? The group's activity history says why: no capacity of the types in these zones (name more "
        "types, or set zone_count=3), or the quota. Instances but no tasks? The service's events, then the logs under "
        "`boot/`.",
    )


def instances_missing(group: str, minimum_tasks: int = 2) -> Shortfall:
    """Alarm on instances that the group cannot launch."""
    of = {"AutoScalingGroupName": group}
    return Shortfall(
        name="instances-missing",
        wanted=PlatformMetric("AWS/AutoScaling", "GroupDesiredCapacity", of),
        present=PlatformMetric("AWS/AutoScaling", "GroupInServiceInstances", of),
        missing=Missing.BREACHING if minimum_tasks else Missing.NOT_BREACHING,
        meaning="For ten minutes fewer instances are in service than are wanted: longer than a cold start takes.",
        remedy="The group's activity history says why: no capacity of the types in these zones (name more types, "
        "or set zone_count=3), or the quota. Launched and given up? The logs under `boot/`.",
    )
