"""The signals that a fleet is scaled and watched by: CloudWatch names, units and what idleness means, as data.

Said once, for the publisher, the stacks, the dashboards and the simulator; nothing but data may live here, so that
`infra` and `loadtest` may read it too. Every value carries one dimension, the fleet's name, and each task publishes
one value for each signal and period. So CloudWatch's statistics answer both questions without a dimension for tasks:
Average is one task's share, Sum the fleet's total, Maximum the worst task, SampleCount how many tasks are alive.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

SERVICE_DIMENSION = "Service"
"""The only dimension; its value is the fleet's name."""

PERIOD_SECONDS = 10
"""How often each task publishes, and the period of every alarm that decides about scaling."""

STORAGE_RESOLUTION_SECONDS = 1
"""High resolution: CloudWatch keeps points of less than a minute apart only when it is asked to."""


class Unit(StrEnum):
    """CloudWatch's units, as PutMetricData takes them."""

    NONE = "None"
    SECONDS = "Seconds"
    COUNT = "Count"
    PERCENT = "Percent"


class Kind(StrEnum):
    """What one published value stands for."""

    LEVEL = "level"
    """The value at the end of the period; zero when idle. A task that starts or drains is not idle: it leaves them out,
    since its zeros would hide the load of the others in every average."""
    FLAG = "flag"
    """1 while something is the case; zero otherwise, never left out."""
    COUNT = "count"
    """What happened in the period; zero when nothing did, never left out."""
    DISTRIBUTION = "distribution"
    """Values with counts; left out when there was nothing to measure, since a zero would flatter."""
    DEVICE = "device"
    """A level that only a task with a GPU has; left out without one."""


@dataclass(frozen=True, slots=True)
class Signal:
    """One metric: its name in CloudWatch, its unit, and what one value stands for."""

    name: str
    unit: Unit
    kind: Kind


WORK_RATIO = Signal("WorkRatio", Unit.NONE, Kind.LEVEL)
"""Arrived tokens per second over the task's capacity; above 1 the queue grows."""
BACKLOG_SECONDS = Signal("BacklogSeconds", Unit.SECONDS, Kind.LEVEL)
"""Waiting and lately refused tokens over tokens per second."""
OLDEST_AGE_SECONDS = Signal("OldestAgeSeconds", Unit.SECONDS, Kind.LEVEL)
"""Age of the document that has waited longest."""
QUEUE_DEPTH = Signal("QueueDepth", Unit.COUNT, Kind.LEVEL)
"""Documents that wait."""
BUSY_RATIO = Signal("BusyRatio", Unit.NONE, Kind.LEVEL)
"""Share of the period in which a batch ran, 0 to 1."""
GPU_UTILIZATION = Signal("GpuUtilization", Unit.PERCENT, Kind.DEVICE)
"""NVML's figure, 0 to 100: share of the time in which a kernel ran."""
GPU_MEMORY_UTILIZATION = Signal("GpuMemoryUtilization", Unit.PERCENT, Kind.DEVICE)
"""Memory in use by anybody over the device's memory, 0 to 100."""
GPU_LOST = Signal("GpuLost", Unit.COUNT, Kind.FLAG)
"""1 while a GPU that was there does not answer, else 0."""
REFUSALS = Signal("Refusals", Unit.COUNT, Kind.COUNT)
"""Documents turned away for want of capacity (queue full, deadline out of reach)."""
RESTARTS = Signal("Restarts", Unit.COUNT, Kind.COUNT)
"""Engines that were started again after one died."""
MEMORY_SPLITS = Signal("MemorySplits", Unit.COUNT, Kind.COUNT)
"""Batches that were split because memory ran out."""
REQUEST_SECONDS = Signal("RequestSeconds", Unit.SECONDS, Kind.DISTRIBUTION)
"""Seconds from a request's first byte to its answer, for `/extract` only."""

SIGNALS = (
    WORK_RATIO,
    BACKLOG_SECONDS,
    OLDEST_AGE_SECONDS,
    QUEUE_DEPTH,
    BUSY_RATIO,
    GPU_UTILIZATION,
    GPU_MEMORY_UTILIZATION,
    GPU_LOST,
    REFUSALS,
    RESTARTS,
    MEMORY_SPLITS,
    REQUEST_SECONDS,
)
"""Everything that a task publishes."""
