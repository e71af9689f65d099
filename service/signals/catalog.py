"""The signals that a fleet is scaled and watched by: CloudWatch names, units and their value when idle, as data.

Defined once, for the publisher, the stacks, the dashboards and the tests. Nothing but data may live here, so
that `infra` and `loadtest` may import it too. Every value carries one dimension, the fleet's name, and each task
publishes one value per signal and period. CloudWatch's statistics then need no dimension for tasks: Average is one
task's share, Sum the fleet's total, Maximum the worst task, SampleCount the number of live tasks.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

SERVICE_DIMENSION = "Service"
"""The only dimension; its value is the fleet's name."""

PERIOD_SECONDS = 10
"""Seconds between two points of a task, and the period of every alarm that decides about scaling."""

STORAGE_RESOLUTION_SECONDS = 1
"""Seconds of CloudWatch's high resolution, without which it keeps one point a minute."""


class Unit(StrEnum):
    """CloudWatch's units, as PutMetricData takes them."""

    NONE = "None"
    SECONDS = "Seconds"
    COUNT = "Count"
    PERCENT = "Percent"


class Kind(StrEnum):
    """The meaning of one published value."""

    LEVEL = "level"
    """The value at the end of the period; zero when idle. A starting or draining task does not publish levels, since
    its zeros would lower the average of the tasks that carry the load."""
    FLAG = "flag"
    """1 while a condition holds, else 0; always published."""
    COUNT = "count"
    """Events in the period; always published."""
    DISTRIBUTION = "distribution"
    """Values with counts; not published without a measurement, since a zero would improve the quantiles."""
    DEVICE = "device"
    """A level of the GPU; not published by a task without one."""


@dataclass(frozen=True, slots=True)
class Signal:
    """One metric: its name in CloudWatch, its unit, and what one value stands for."""

    name: str
    unit: Unit
    kind: Kind


WORK_RATIO = Signal("WorkRatio", Unit.NONE, Kind.LEVEL)
"""Asked-for work over the task's capacity, of the stage that has most; above 1 its queue grows. Without bulk's part."""
COMPUTE_WORK_RATIO = Signal("ComputeWorkRatio", Unit.NONE, Kind.LEVEL)
"""Work ratio of the device: arriving tokens per second over the tokens per second that it computes."""
TOKENIZE_WORK_RATIO = Signal("TokenizeWorkRatio", Unit.NONE, Kind.LEVEL)
"""Work ratio of the API workers: seconds of tokenizing and decoding wanted per second, or their loops' busy share."""
PARSE_WORK_RATIO = Signal("ParseWorkRatio", Unit.NONE, Kind.LEVEL)
"""Work ratio of the parsers: asked-for seconds of parsing per second over their number."""
BULK_BACKLOG_SECONDS = Signal("BulkBacklogSeconds", Unit.SECONDS, Kind.LEVEL)
"""Seconds that one task would need for all files in the bulk queue; every task publishes the same queue's."""
BULK_TASKS_WANTED = Signal("BulkTasksWanted", Unit.COUNT, Kind.LEVEL)
"""Tasks that clear that queue by its deadline; without a deadline 1, without work 0."""
REQUESTS_IN_FLIGHT = Signal("RequestsInFlight", Unit.COUNT, Kind.LEVEL)
"""Requests that were taken on and are not answered."""
BACKLOG_SECONDS = Signal("BacklogSeconds", Unit.SECONDS, Kind.LEVEL)
"""Seconds for what waits on the task: tokens, with those recently refused, or files for parsers, whichever is more."""
OLDEST_AGE_SECONDS = Signal("OldestAgeSeconds", Unit.SECONDS, Kind.LEVEL)
"""Age of the oldest queued document."""
QUEUE_DEPTH = Signal("QueueDepth", Unit.COUNT, Kind.LEVEL)
"""Queued documents."""
BUSY_RATIO = Signal("BusyRatio", Unit.NONE, Kind.LEVEL)
"""Share of the period in which a batch ran, 0 to 1."""
GPU_UTILIZATION = Signal("GpuUtilization", Unit.PERCENT, Kind.DEVICE)
"""NVML's GPU utilization, 0 to 100: share of the time in which a kernel ran."""
GPU_MEMORY_UTILIZATION = Signal("GpuMemoryUtilization", Unit.PERCENT, Kind.DEVICE)
"""Memory used by all processes over the device's memory, 0 to 100."""
GPU_LOST = Signal("GpuLost", Unit.COUNT, Kind.FLAG)
"""1 while a GPU that was present does not respond, else 0."""
REQUESTS = Signal("Requests", Unit.COUNT, Kind.COUNT)
"""Answered requests for work (`routes.WORK_ROUTES`), bulk's own included."""
SERVER_ERRORS = Signal("ServerErrors", Unit.COUNT, Kind.COUNT)
"""Those that the service failed, in whole or in part; a refusal is no failure (`core/errors.is_server_error`)."""
REFUSALS = Signal("Refusals", Unit.COUNT, Kind.COUNT)
"""Documents refused for lack of capacity (`points.CAPACITY_REFUSALS`)."""
RESTARTS = Signal("Restarts", Unit.COUNT, Kind.COUNT)
"""Engine starts after the first one."""
MEMORY_SPLITS = Signal("MemorySplits", Unit.COUNT, Kind.COUNT)
"""Batches split after an out-of-memory error."""
REQUEST_SECONDS = Signal("RequestSeconds", Unit.SECONDS, Kind.DISTRIBUTION)
"""Seconds from a request's first byte to its answer, for requests for work without priority `batch` and without pages
whose text was recognized (OCR), which takes seconds."""

SIGNALS = (
    WORK_RATIO,
    COMPUTE_WORK_RATIO,
    TOKENIZE_WORK_RATIO,
    PARSE_WORK_RATIO,
    BULK_BACKLOG_SECONDS,
    BULK_TASKS_WANTED,
    REQUESTS_IN_FLIGHT,
    BACKLOG_SECONDS,
    OLDEST_AGE_SECONDS,
    QUEUE_DEPTH,
    BUSY_RATIO,
    GPU_UTILIZATION,
    GPU_MEMORY_UTILIZATION,
    GPU_LOST,
    REQUESTS,
    SERVER_ERRORS,
    REFUSALS,
    RESTARTS,
    MEMORY_SPLITS,
    REQUEST_SECONDS,
)
"""All signals of a task."""

STAGES = {"compute": COMPUTE_WORK_RATIO, "tokenize": TOKENIZE_WORK_RATIO, "parse": PARSE_WORK_RATIO}
"""The work ratio of each stage, of which `WORK_RATIO` is the largest."""

TARGET_WORK_RATIO = 0.7
"""Work ratio that target tracking keeps: a fleet of three then survives the loss of one."""
STEP_WORK_RATIO = 0.85
"""Work ratio above which tasks are added; below 1, since at 1 the queue already grows."""
SCALE_IN_WORK_RATIO = 0.4
"""Work ratio below which a task is removed: two thirds of the fleet are then still under the target."""
