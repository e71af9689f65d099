from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtest.report.scales import exact, label, linear, linear_ticks, logarithmic


def test_round_numbers() -> None:
    assert linear_ticks(0, 103, 6) == pytest.approx([0, 20, 40, 60, 80, 100])
    assert linear([7.3], 0, 100).ticks() == pytest.approx([0, 2, 4, 6, 8])
    assert logarithmic([12, 800], 0, 100).ticks() == pytest.approx([10, 20, 50, 100, 200, 500, 1000])


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (0.125, "0.125"), (1234, "1,234"), (2.5e6, "2.5 M")])
def test_labels(value: float, text: str) -> None:
    assert label(value) == text


@given(st.lists(st.floats(0.001, 1e9), min_size=1, max_size=20))
def test_every_value_has_its_place_and_there_are_ticks(values: list[float]) -> None:
    for scale in (linear(values, 0, 100), logarithmic(values, 0, 100), exact(min(values), max(values), 0, 100)):
        places = [scale(value) for value in sorted(values)]
        assert all(-1e-6 <= place <= 100 + 1e-6 for place in places)
        assert places == sorted(places)
    assert 2 <= len(linear(values, 0, 100).ticks()) <= 12
    assert len(logarithmic(values, 0, 100).ticks()) >= 2
