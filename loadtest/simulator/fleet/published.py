"""What CloudWatch holds of the tasks' signals, as the policy's alarms read it.

Three points stand for those of all tasks: the least, the most, and the mean of the others. Every statistic that an
alarm takes (average, sum, least, most, number) is then exactly that of all points, whatever the size of the fleet.
"""

from __future__ import annotations

from infra.scaling.alarm_evaluation import Point, Series
from loadtest.simulator.demand import Floats
from loadtest.simulator.fleet.task_group import TaskGroup
from service.signals.catalog import (
    BACKLOG_SECONDS,
    GPU_UTILIZATION,
    OLDEST_AGE_SECONDS,
    QUEUE_DEPTH,
    WORK_RATIO,
    Signal,
)


def publish(series: Series, tasks: TaskGroup, now: float) -> None:
    """Put the signals of all serving tasks; without a task there are none, as in CloudWatch."""
    if not len(tasks):
        return
    values: tuple[tuple[Signal, Floats], ...] = (
        (WORK_RATIO, tasks.work_ratio),
        (BACKLOG_SECONDS, tasks.backlog_seconds),
        (QUEUE_DEPTH, tasks.queue_depth),
        (OLDEST_AGE_SECONDS, tasks.oldest_seconds),
        (GPU_UTILIZATION, tasks.gpu_percent),
    )
    for signal, found in values:
        for point in points(found, now):
            series.put(signal, point)


def points(values: Floats, now: float) -> list[Point]:
    """At most three points with the statistics of all."""
    each: list[float] = values.tolist()  # For so few, numpy's own take several times as long.
    low, high, others = min(each), max(each), len(each) - 2
    if low == high:
        return [Point(now, low, len(each))]
    found = [Point(now, low), Point(now, high)]
    if others:
        found.append(Point(now, (sum(each) - low - high) / others, others))
    return found
