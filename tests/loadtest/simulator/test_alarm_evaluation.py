"""Statistics over tasks, conditions that must agree, M of N periods, and what missing points count as."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.scaling.alarm_values import Alarm, Comparison, Condition, Missing, Statistic
from loadtest.simulator.alarm_evaluation import Point, Series, State, evaluate, statistic_of
from service.signals.catalog import BACKLOG_SECONDS, QUEUE_DEPTH, WORK_RATIO


def series_of(*periods: tuple[float, ...]) -> Series:
    """One tuple for each period of 10 s: the work ratios that the tasks published in it."""
    series = Series()
    for i, values in enumerate(periods):
        for value in values:
            series.add(10.0 * i + 5, {WORK_RATIO: value, QUEUE_DEPTH: 10 * value})
    return series


def alarm(**changes: object) -> Alarm:
    high = (Condition(WORK_RATIO, Statistic.AVERAGE, Comparison.ABOVE, 0.8),)
    values: dict[str, object] = {"conditions": high, "periods": 2, **changes}
    return Alarm(name="high", meaning="", remedy="", **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("statistic", "value"),
    [("Average", 3.0), ("Sum", 12.0), ("Maximum", 6.0), ("Minimum", 1.0), ("SampleCount", 4.0), ("p99", 6.0)],
)
def test_each_statistic_over_the_points_of_one_period(statistic: str, value: float) -> None:
    points = [Point(1, 1.0), Point(2, 6.0), Point(3, 2.5, count=2)]
    assert statistic_of(Statistic(statistic), points) == value


@given(st.lists(st.tuples(st.floats(0, 100), st.integers(1, 50)), min_size=1))
def test_the_99th_percentile_is_a_value_that_at_most_a_hundredth_exceeds(found: list[tuple[float, int]]) -> None:
    points = [Point(0, value, count) for value, count in found]
    p99 = statistic_of(Statistic.P99, points)
    assert p99 is not None
    total = sum(count for _, count in found)
    assert sum(count for value, count in found if value > p99) <= 0.01 * total
    assert sum(count for value, count in found if value >= p99) > 0.01 * total


def test_an_alarm_sounds_when_enough_periods_breach_and_not_before() -> None:
    series = series_of((0.5, 0.5), (1.0, 1.2), (1.5, 1.1))
    assert evaluate(alarm(), series, 20).state is State.OK
    assert evaluate(alarm(), series, 30).state is State.ALARM
    assert evaluate(alarm(), series, 30).value == pytest.approx(1.3)


def test_one_loud_task_among_quiet_ones_does_not_move_the_average() -> None:
    assert evaluate(alarm(), series_of((2.0, 0.1, 0.1), (2.0, 0.1, 0.1)), 20).state is State.OK


def test_all_conditions_must_hold_in_the_same_period() -> None:
    both = (*alarm().conditions, Condition(QUEUE_DEPTH, Statistic.SUM, Comparison.AT_LEAST, 20.0))
    assert evaluate(alarm(conditions=both), series_of((1.0,), (1.0,)), 20).state is State.OK
    assert evaluate(alarm(conditions=both), series_of((1.0, 1.0), (1.0, 1.0)), 20).state is State.ALARM


def test_a_condition_without_points_makes_the_period_missing() -> None:
    both = (*alarm().conditions, Condition(BACKLOG_SECONDS, Statistic.AVERAGE, Comparison.BELOW, 1.0))
    series = series_of((1.0,), (1.0,))
    assert evaluate(alarm(conditions=both), series, 20).state is State.OK
    assert evaluate(alarm(conditions=both, missing=Missing.BREACHING), series, 20).state is State.ALARM


def test_missing_points_breach_or_not() -> None:
    assert evaluate(alarm(missing=Missing.BREACHING), Series(), 20).state is State.ALARM
    assert evaluate(alarm(missing=Missing.NOT_BREACHING), Series(), 20).state is State.OK


AWS_TABLE = (
    ("0-X-X", 3, 3, "OK", "OK"),
    ("0----", 3, 3, "OK", "OK"),
    ("-----", 3, 3, "ALARM", "OK"),
    ("0XX-X", 3, 3, "ALARM", "ALARM"),
    ("--X--", 3, 3, "ALARM", "OK"),
    ("0-X-X", 3, 2, "ALARM", "ALARM"),
    ("00X0X", 3, 2, "ALARM", "ALARM"),
    ("0-X--", 3, 2, "ALARM", "OK"),
    ("----0", 3, 2, "ALARM", "OK"),
    ("---X-", 3, 2, "ALARM", "OK"),
)
"""AWS's own two tables: periods, oldest first (X: breaching, -: missing), N, M; breaching, not breaching."""


@pytest.mark.parametrize(("seen", "n", "m", "breaching", "not_breaching"), AWS_TABLE)
def test_missing_data_are_treated_as_in_the_tables_of_aws(
    seen: str, n: int, m: int, breaching: str, not_breaching: str
) -> None:
    series = series_of(*({"X": (1.0,), "0": (0.1,), "-": ()}[each] for each in seen))
    for missing, state in ((Missing.BREACHING, breaching), (Missing.NOT_BREACHING, not_breaching)):
        assert evaluate(alarm(periods=n, datapoints=m, missing=missing), series, 50).state == state, missing


def test_a_series_forgets_what_no_alarm_looks_back_to() -> None:
    series = Series(keep_seconds=30)
    every = Condition(WORK_RATIO, Statistic.SAMPLE_COUNT, Comparison.ABOVE, 0.0)
    for second in range(1000):
        series.add(second, {WORK_RATIO: 1.0})
    assert series.statistic(every, 969, 999) == 30
    assert series.statistic(every, -1, 999) in range(30, 62)


def test_a_period_that_is_not_over_is_counted_anew() -> None:
    series = Series()
    every = Condition(WORK_RATIO, Statistic.SAMPLE_COUNT, Comparison.ABOVE, 0.0)
    for second in range(1, 25):
        series.add(second, {WORK_RATIO: 1.0})
        assert series.statistic(every, 0, 10) == min(second, 10)
