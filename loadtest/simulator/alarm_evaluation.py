"""CloudWatch's evaluation of alarms over series of points. Pure; time is passed in.

points of all tasks → one statistic for each period → does every condition hold? → M of the last N periods
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from infra.scaling.alarm_values import Alarm, Condition, Missing, Statistic
from service.signals.catalog import Signal


class State(StrEnum):
    """CloudWatch's names."""

    OK = "OK"
    ALARM = "ALARM"


@dataclass(frozen=True, slots=True)
class Point:
    """One task's published value at one moment. `count` above one stands for equal values (distributions)."""

    at_seconds: float
    value: float
    count: int = 1


class Series:
    """The points of all tasks by signal, for as long as any alarm looks back."""

    def __init__(self, keep_seconds: float = 3600.0) -> None:
        self._keep = keep_seconds
        self._tracks: dict[str, _Track] = {}

    def add(self, at_seconds: float, values: Mapping[Signal, float]) -> None:
        """One task's values at one moment."""
        for signal, value in values.items():
            self.put(signal, Point(at_seconds, value))

    def put(self, signal: Signal, point: Point) -> None:
        """One point; points of a signal come in the order of their times."""
        track = self._tracks.setdefault(signal.name, _Track())
        track.append(point)
        track.forget(point.at_seconds - self._keep)

    def statistic(self, condition: Condition, after: float, until: float) -> float | None:
        """The condition's statistic over the period (after, until]; None without points."""
        found = self._statistic(condition.signal, condition.statistic, after, until)
        if condition.per is None or found is None:
            return found
        count = self._statistic(condition.per, condition.per_statistic, after, until)
        return found / count if count else None

    def _statistic(self, signal: Signal, statistic: Statistic, after: float, until: float) -> float | None:
        track = self._tracks.get(signal.name)
        return track.statistic(statistic, after, until) if track else None


class _Track:
    """One signal's points. Several alarms read the same statistics, again and again, so they are cached."""

    def __init__(self) -> None:
        self._times: list[float] = []
        self._points: list[Point] = []
        self._known: dict[tuple[Statistic, float, float], float | None] = {}
        self._latest: dict[tuple[Statistic, float, float], float | None] = {}
        """Values of periods that more points may still join, until the next point comes."""

    def append(self, point: Point) -> None:
        assert not self._times or self._times[-1] <= point.at_seconds, "points come in order"
        self._times.append(point.at_seconds)
        self._points.append(point)
        self._latest.clear()

    def forget(self, until: float) -> None:
        """Drop older points once they are more than half of all."""
        gone = bisect_right(self._times, until)
        if gone > len(self._times) // 2:
            del self._times[:gone], self._points[:gone]
            self._known = {key: value for key, value in self._known.items() if key[1] >= until}

    def statistic(self, statistic: Statistic, after: float, until: float) -> float | None:
        key = (statistic, after, until)
        if key in self._known:
            return self._known[key]
        if key in self._latest:
            return self._latest[key]
        found = statistic_of(statistic, self.between(after, until))
        is_over = bool(self._times) and self._times[-1] > until
        (self._known if is_over else self._latest)[key] = found
        return found

    def between(self, after: float, until: float) -> list[Point]:
        return self._points[bisect_right(self._times, after) : bisect_right(self._times, until)]


def statistic_of(statistic: Statistic, points: Iterable[Point]) -> float | None:
    """The statistic over the points of one period; None if there are none."""
    found = list(points)
    count, total = 0, 0.0
    for point in found:
        count += point.count
        total += point.value * point.count
    if not count:
        return None
    match statistic:
        case Statistic.SAMPLE_COUNT:
            return float(count)
        case Statistic.SUM:
            return total
        case Statistic.AVERAGE:
            return total / count
        case Statistic.MAXIMUM:
            return max(point.value for point in found)
        case Statistic.MINIMUM:
            return min(point.value for point in found)
        case Statistic.P99:
            return _quantile(sorted(found, key=lambda point: point.value), math.ceil(0.99 * count))


def _quantile(ordered: Sequence[Point], rank: int) -> float:
    for point in ordered:
        rank -= point.count
        if rank <= 0:
            return point.value
    return ordered[-1].value


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An alarm's state and its latest value; None where the last period had no points."""

    state: State
    value: float | None


EXTRA_PERIODS = 2
"""Periods that CloudWatch looks at beyond those an alarm needs: by its own examples five for three."""


def evaluate(alarm: Alarm, series: Series, now: float) -> Evaluation:
    """CloudWatch's evaluation of an alarm at `now`, over the periods that end at `now`, `now` - period, …

    The newest N periods that have data count, of the N + 2 that are looked at. What then lacks is filled by the
    alarm's treatment of missing data (docs: "Configuring how CloudWatch alarms treat missing data").
    """
    latest: float | None = None
    breaching = sound = 0
    for number in range(alarm.periods + EXTRA_PERIODS):
        values = _value(alarm, series, now - number * alarm.period_seconds)
        latest = values[0] if number == 0 else latest
        if None not in values:
            breaches = _breaches(alarm, values)
            breaching, sound = breaching + breaches, sound + (not breaches)
        if sound > alarm.periods - alarm.datapoints_to_alarm:
            return Evaluation(State.OK, latest)
        if breaching + sound == alarm.periods:
            break
    if alarm.missing is Missing.BREACHING:
        breaching = alarm.periods - sound
    return Evaluation(State.ALARM if breaching >= alarm.datapoints_to_alarm else State.OK, latest)


def _value(alarm: Alarm, series: Series, until: float) -> tuple[float | None, ...]:
    after = until - alarm.period_seconds
    return tuple([series.statistic(each, after, until) for each in alarm.conditions])


def _breaches(alarm: Alarm, values: tuple[float | None, ...]) -> bool:
    """True where every condition holds; all of them have data."""
    for each, value in zip(alarm.conditions, values, strict=True):
        if value is None or not each.comparison.holds(value, each.threshold):
            return False
    return True
