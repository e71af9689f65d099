"""The third death within a minute is the last."""

from __future__ import annotations

from service.core.lifecycle.restart_limit import RestartLimit


def test_two_deaths_are_forgiven_and_the_third_within_a_minute_is_not() -> None:
    limit = RestartLimit()
    assert [limit.allows(now) for now in (0.0, 20.0, 59.0)] == [True, True, False]


def test_deaths_far_apart_are_always_forgiven() -> None:
    limit = RestartLimit()
    assert all(limit.allows(now * 40.0) for now in range(10))


def test_a_limit_for_several_processes_counts_them_together() -> None:
    limit = RestartLimit(most_deaths=6)
    assert [limit.allows(float(now)) for now in range(7)] == [True] * 5 + [False] * 2
    assert limit.allows(100.0)
