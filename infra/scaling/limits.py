"""A fleet's limits and times: numbers of tasks, schedules, delays in the cloud, AWS's forecast. Pure data."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from zoneinfo import ZoneInfo


class Forecast(StrEnum):
    """AWS's predictive scaling: daily and weekly cycles, learnt from at least a day of history. It only ever adds."""

    OFF = "off"
    LOOK = "ForecastOnly"
    """Forecasts are shown and not acted upon: the way to begin."""
    ACT = "ForecastAndScale"


def has_time_zone(name: str) -> bool:
    """Whether this machine knows the time zone; one without the system's zones and the package tzdata knows none."""
    try:
        return bool(ZoneInfo(name).key)
    except (KeyError, OSError, ValueError):
        return False


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
        if not has_time_zone(self.timezone) and has_time_zone("UTC"):
            raise ValueError(f"schedule {self.name}: there is no time zone {self.timezone!r}")

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
    start_seconds: float = 60.0
    ready_seconds: int = 300
    longest_request_seconds: int = 300
    drain_grace_seconds: int = 5
    stop_slack_seconds: int = 25

    def starting(self, *, warm: bool, managed: bool) -> Delays:
        """The delays with `start_seconds` summed up.

        Args:
            warm: a usual step comes out of the warm pool.
            managed: ECS's capacity provider asks for the instances.
        """
        wait = self.capacity_provider_seconds if managed else 0.0
        return replace(self, start_seconds=wait + (self.warm_start_seconds if warm else self.cold_start_seconds))

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
