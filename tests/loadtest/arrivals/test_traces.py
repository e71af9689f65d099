from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtest.arrivals.traces import Trace, lines, read_trace
from loadtest.errors import BadInput


def test_a_trace_is_read_as_it_was_written(tmp_path: Path) -> None:
    trace = Trace(60.0, (320, 0, 17))
    (tmp_path / "t.csv").write_text("\n".join(lines(trace)) + "\n")
    assert read_trace(tmp_path / "t.csv") == trace
    assert trace.mean_rate == pytest.approx(337 / 180)
    assert trace.at(130) == pytest.approx(17 / 60)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "time,n\n0,1\n1,2\n",
        "t_s,count\n0,1\n",
        "t_s,count\n0,1\n1,x\n",
        "t_s,count\n0,1\n1,2\n5,2\n",
        "t_s,count\n0,1\n1,-2\n",
    ],
)
def test_what_is_no_trace_is_refused_with_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(BadInput, match="is not a trace"):
        read_trace(tmp_path / "t.csv")


def test_a_trace_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        read_trace(tmp_path / "none.csv")


@given(st.lists(st.integers(0, 1_000), min_size=1, max_size=200), st.floats(0.01, 20))
def test_scaling_rounds_no_sum_by_more_than_a_half(counts: list[int], factor: float) -> None:
    scaled = Trace(1.0, tuple(counts)).scaled(factor)
    reached = wanted = 0.0
    for before, after in zip(counts, scaled.counts, strict=True):
        reached, wanted = reached + after, wanted + before * factor
        assert after >= 0
        assert abs(reached - wanted) <= 0.5 + 1e-6


def test_scaling_by_one_changes_nothing() -> None:
    assert Trace(1.0, (3, 0, 9)).scaled(1.0).counts == (3, 0, 9)
