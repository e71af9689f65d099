"""Alarms as values: the statistic of a signal, its threshold, how long it must be passed, what to do. Pure data.

An alarm may have several conditions; it breaches where all of them hold. In CloudWatch that is one metric expression
(`stacks/cloudwatch_alarms.py`), so permission ("the GPU agrees") is part of the alarm and no second opinion.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from service.signals.catalog import PERIOD_SECONDS, Kind, Signal

POINTS_A_MINUTE = 60 // PERIOD_SECONDS
"""Points of a signal that a task publishes in a minute."""


class Statistic(StrEnum):
    """Statistics by CloudWatch's names. Over tasks: one share, the total, the most, the least, how many."""

    AVERAGE = "Average"
    SUM = "Sum"
    MAXIMUM = "Maximum"
    MINIMUM = "Minimum"
    SAMPLE_COUNT = "SampleCount"
    P99 = "p99"


class Comparison(StrEnum):
    """CloudWatch's names."""

    AT_LEAST = "GreaterThanOrEqualToThreshold"
    ABOVE = "GreaterThanThreshold"
    AT_MOST = "LessThanOrEqualToThreshold"
    BELOW = "LessThanThreshold"

    def holds(self, value: float, threshold: float) -> bool:
        """True when the value compares with the threshold in this way."""
        match self:
            case Comparison.AT_LEAST:
                return value >= threshold
            case Comparison.ABOVE:
                return value > threshold
            case Comparison.AT_MOST:
                return value <= threshold
            case Comparison.BELOW:
                return value < threshold


class Missing(StrEnum):
    """The treatment of a period without points, by CloudWatch's names."""

    BREACHING = "breaching"
    NOT_BREACHING = "notBreaching"


@dataclass(frozen=True, slots=True)
class Condition:
    """A statistic of one signal against a threshold.

    Attributes:
        per: the statistic counts for each event, or each point, of this signal in the same period: refusals for each
            request, wanted tasks for each that is there.
    """

    signal: Signal
    statistic: Statistic
    comparison: Comparison
    threshold: float
    per: Signal | None = None

    @property
    def per_statistic(self) -> Statistic:
        """Statistic of `per`: the sum of events, the number of all other points."""
        return Statistic.SUM if self.per and self.per.kind is Kind.COUNT else Statistic.SAMPLE_COUNT


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """Conditions, how long they must hold, and what the notified person or policy should know.

    Attributes:
        name: unique within a fleet.
        conditions: all must hold; the first one's statistic is the alarm's value, which steps are measured on.
        meaning: what is the case in state ALARM.
        remedy: what to do, or what is done.
    """

    name: str
    conditions: tuple[Condition, ...]
    periods: int
    period_seconds: int = 10
    datapoints: int | None = None
    missing: Missing = Missing.NOT_BREACHING
    meaning: str
    remedy: str

    @property
    def datapoints_to_alarm(self) -> int:
        """M of "M of N"; N unless `datapoints` is set."""
        return self.datapoints or self.periods

    @property
    def seconds_to_alarm(self) -> float:
        """Seconds from the first breaching point to the alarm, if the breach lasts."""
        return self.datapoints_to_alarm * self.period_seconds
