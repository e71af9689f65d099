"""The awake clock counts the time in which its process ran, and hardly any of a pause."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service.core.lifecycle.awake_clock import MOST_GAP_SECONDS, AwakeClock


def test_time_counts_while_the_process_ticks_and_a_pause_counts_as_one_gap() -> None:
    clock = AwakeClock()
    assert [clock.tick(now) for now in (100.0, 100.5, 101.5)] == [0.0, 0.5, 1.5]
    assert clock.resumed_seconds < 0
    assert clock.tick(3_701.5) == 1.5 + MOST_GAP_SECONDS
    assert clock.resumed_seconds == 3_701.5
    assert clock.tick(3_702.0) == 2.0 + MOST_GAP_SECONDS


@given(st.lists(st.floats(0, 1e6)))
def test_it_never_runs_backwards_nor_faster_than_time(times: list[float]) -> None:
    clock = AwakeClock()
    counted = [clock.tick(now) for now in times]
    assert counted == sorted(counted)
    assert not times or counted[-1] <= max(times) - min(times) + 1e-9 or times != sorted(times)
