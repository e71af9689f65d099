"""Named shapes and recorded traces as demand."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadtest.errors import BadInput
from loadtest.simulator.demand import make_demand, read_demand, read_recorded


@pytest.mark.parametrize("name", ["steady", "wave", "trend", "zero"])
def test_the_rate_is_the_mean_of_the_whole_time(name: str) -> None:
    assert make_demand(name, 50.0, 1).counts.mean() == pytest.approx(50.0, rel=0.03)


def test_steps_crowds_nights_and_lengths() -> None:
    step, flash, zero, long = (make_demand(name, 100.0, 1) for name in ("step", "flash", "zero", "long"))
    assert step.counts[2000:5000].mean() / step.counts[:1800].mean() == pytest.approx(5.0, rel=0.05)
    assert flash.counts[2760:2820].mean() == pytest.approx(1000.0, rel=0.1)
    assert zero.counts[: 5 * 3600].sum() == 0
    assert set(long.lengths) == {1.0, 8.0}


def test_a_trace_of_bins_is_spread_over_its_seconds(tmp_path: Path) -> None:
    path = tmp_path / "bins.csv"
    path.write_text("t_s,count\n0,600\n60,0\n120,1200\n")
    demand = read_demand(path, 400.0, 1)
    assert demand.seconds == 180
    assert demand.counts[:60].sum() == pytest.approx(600, rel=0.15)
    assert demand.counts[60:120].sum() == 0


@pytest.mark.parametrize(
    "text",
    ["t_s,tokens\n1.5,800\n0.2,100\n0.9,300\n", '{"t_s": 0.2, "tokens": 100}\n{"t_s": 0.9, "tokens": 300}\n'
     '{"t_s": 1.5, "tokens": 800}\n'],
    ids=["csv", "json lines"],
)  # fmt: skip
def test_recorded_documents_keep_their_times_and_lengths(text: str, tmp_path: Path) -> None:
    path = tmp_path / "recorded"
    path.write_text(text)
    assert read_recorded(path).times.tolist() == [0.2, 0.9, 1.5]
    demand = read_demand(path, 400.0, 1)
    assert demand.counts.tolist() == [2.0, 1.0]
    assert demand.lengths.tolist() == [0.5, 2.0]


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", '{"t_s": 1}\n', "t_s,tokens\n-1,5\n", "t_s,tokens\n1,0\n"])
def test_what_is_no_record_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong"
    path.write_text(text)
    with pytest.raises(BadInput):
        read_demand(path, 400.0, 1)
