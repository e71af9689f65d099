"""Made-up days have the statistics that they were calibrated with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtest.errors import BadInput
from loadtest.scenario.traces import DAYS, Trace, lines, make_day, read_trace


def test_a_trace_is_read_as_it_was_written(tmp_path: Path) -> None:
    trace = Trace(60.0, (320, 0, 17))
    (tmp_path / "t.csv").write_text("\n".join(lines(trace)) + "\n")
    assert read_trace(tmp_path / "t.csv") == trace


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


@given(st.lists(st.integers(0, 1_000), min_size=1, max_size=200), st.floats(0.01, 20))
def test_scaling_rounds_no_sum_by_more_than_a_half(counts: list[int], factor: float) -> None:
    scaled = Trace(1.0, tuple(counts)).scaled(factor)
    reached = wanted = 0.0
    for before, after in zip(counts, scaled.counts, strict=True):
        reached, wanted = reached + after, wanted + before * factor
        assert after >= 0
        assert abs(reached - wanted) <= 0.5 + 1e-6


@pytest.mark.parametrize("kind", ["diurnal", "bursty"])
def test_the_mean_is_the_one_that_was_asked_for(kind: str) -> None:
    assert sum(make_day(kind, 3, mean_rate=10, days=60).counts) == pytest.approx(10 * 60 * 86_400, rel=0.05)


@pytest.mark.parametrize("kind", DAYS)
def test_seconds_are_as_dispersed_as_measured(kind: str) -> None:
    """Against the rate of their five minutes, which hours, wandering and spikes leave alone."""
    counts = np.array(make_day(kind, 4, mean_rate=20, bin_seconds=1.0).counts, dtype=float).reshape(-1, 300)
    means = counts.mean(axis=1)
    index = (counts.var(axis=1, ddof=1) / means)[means > 1]
    assert index.mean() == pytest.approx(DAYS[kind].dispersion_per_second, rel=0.12)


def test_a_spiky_day_has_spikes_and_a_diurnal_one_hardly() -> None:
    """A spike: five minutes with at least three times the median of the hour before."""

    def spikes(kind: str) -> float:
        counts = np.array(make_day(kind, 5, mean_rate=10, days=40).counts, dtype=float).reshape(-1, 5).sum(axis=1)
        before = np.array([np.median(counts[n - 12 : n]) for n in range(12, len(counts))])
        return float((counts[12:] >= 3 * before).sum() / 40)

    assert spikes("diurnal") < 1.5
    assert 3 < spikes("spiky") < 9


def test_a_day_can_be_had_again() -> None:
    assert make_day("spiky", 7) == make_day("spiky", 7)
    assert make_day("spiky", 7) != make_day("spiky", 8)
