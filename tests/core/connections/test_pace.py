"""A pace is judged window by window, whatever came before."""

from __future__ import annotations

from service.core.connections.transfers import JUDGED_SECONDS, LEAST_BYTES_PER_SECOND, Pace


def test_a_pace_is_judged_by_whole_windows() -> None:
    pace = Pace(10.0, 0.0)
    assert not pace.is_too_slow(9.9)
    pace.moved(10 * LEAST_BYTES_PER_SECOND)
    assert not pace.is_too_slow(10.0)
    pace.moved(10 * LEAST_BYTES_PER_SECOND - 1)
    assert not pace.is_too_slow(19.9)
    assert pace.is_too_slow(20.0)
    pace.restart(100.0)
    assert not pace.is_too_slow(109.0)


def test_within_a_window_it_is_judged_once_some_of_it_has_passed() -> None:
    pace = Pace(60.0, 0.0)
    assert not pace.is_slow_so_far(JUDGED_SECONDS - 0.1)
    assert pace.is_slow_so_far(JUDGED_SECONDS)
    pace.moved(int(JUDGED_SECONDS * LEAST_BYTES_PER_SECOND))
    assert not pace.is_slow_so_far(JUDGED_SECONDS)
    assert pace.is_slow_so_far(2 * JUDGED_SECONDS)
