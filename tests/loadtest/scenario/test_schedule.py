"""The schedule of a scenario's phases."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from loadtest.scenario.scenario import Phase, Scenario, read_scenario
from loadtest.scenario.schedule import most_per_second, schedule


def written(folder: Path, text: str) -> Scenario:
    (folder / "s.toml").write_text(text)
    return read_scenario(str(folder / "s.toml"))


def test_even_arrivals_are_equally_spaced_within_each_phase() -> None:
    phases = (Phase("a", seconds=1.0, rate=2), Phase("b", seconds=2.0, rate=4))
    found = list(schedule(Scenario("t", phases, "absolute", "even")))
    assert found == pytest.approx([0.0, 0.5, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75])


def test_the_highest_rate_is_that_of_any_phase() -> None:
    phases = (Phase("a", seconds=1.0, rate=2), Phase("b", "ramp", seconds=2.0, rate=4, last_rate=30))
    assert most_per_second(Scenario("t", phases, "absolute")) == pytest.approx(30)


def test_a_trace_is_replayed_in_its_phase(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("t_s,count\n0,30\n60,0\n120,12\n")
    text = f'title="t"\nrates="absolute"\n[[phases]]\nname="p"\nshape="trace"\npath="{tmp_path}/t.csv"\ntime_scale=60\n'
    scenario = written(tmp_path, text)
    assert scenario.seconds == pytest.approx(3.0)
    assert np.bincount(np.array(list(schedule(scenario))).astype(int)).tolist() == [30, 0, 12]


def test_a_day_is_compressed_into_its_phase(tmp_path: Path) -> None:
    text = 'title="t"\nrates="absolute"\n[[phases]]\nname="p"\nshape="day"\nkind="spiky"\nrate=50\nseconds=24\n'
    moments = list(schedule(written(tmp_path, text)))
    assert len(moments) == pytest.approx(1_200, abs=1)
