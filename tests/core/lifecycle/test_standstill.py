"""How long a mark has stood still."""

from __future__ import annotations

from service.core.lifecycle.standstill import Standstill


def test_a_mark_that_changes_never_stands_still() -> None:
    standstill = Standstill()
    assert [standstill.seconds(mark, mark * 10.0) for mark in range(4)] == [0.0] * 4


def test_a_mark_stands_still_since_it_was_first_seen() -> None:
    standstill = Standstill()
    assert [standstill.seconds(7, awake) for awake in (5.0, 6.0, 25.0)] == [0.0, 1.0, 20.0]
    assert [standstill.seconds(8, awake) for awake in (26.0, 27.0)] == [0.0, 1.0]


def test_before_the_first_mark_nothing_stands_still() -> None:
    standstill = Standstill()
    assert [standstill.seconds(None, awake) for awake in (0.0, 1_000.0)] == [0.0, 0.0]
    assert standstill.seconds(1, 1_001.0) == 0.0
    assert standstill.seconds(None, 2_000.0) == 0.0
