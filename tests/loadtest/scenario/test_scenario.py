"""Scenarios: the built-in ones, files, and what is wrong with bad ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from loadtest.errors import BadInput
from loadtest.scenario.scenario import (
    Phase,
    Scenario,
    at_capacity,
    builtin_scenarios,
    most_per_second,
    read_scenario,
    schedule,
    stretched,
)
from loadtest.scenario.workload import make_jobs


def written(folder: Path, text: str) -> Scenario:
    (folder / "s.toml").write_text(text)
    return read_scenario(str(folder / "s.toml"))


@pytest.mark.parametrize("name", builtin_scenarios())
def test_a_builtin_scenario_can_be_read_and_scheduled(name: str) -> None:
    scenario = at_capacity(read_scenario(name), 20.0)
    assert make_jobs(scenario.mix, {})
    moments = np.array(list(schedule(stretched(scenario, 20.0))))
    assert len(moments)
    assert (np.diff(moments) >= 0).all()
    assert 0 <= moments[0] <= moments[-1] < 20.0


def test_shares_of_the_capacity_become_rates() -> None:
    scenario = at_capacity(read_scenario("overload"), 7.0)
    assert most_per_second(scenario) == pytest.approx(70)
    assert [phase.rate for phase in scenario.phases if phase.name == "10 times"] == [70]
    assert at_capacity(scenario, 3.0) == scenario


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('title="t"\n', "phases"),
        ('title="t"\nphases=[]\n', "needs a phase"),
        ('title="t"\n[[phases]]\nname="p"\n', "needs `seconds`"),
        ('title="t"\n[[phases]]\nname="p"\nsecond=3\n', "second"),
        ("title=", "cannot be used"),
    ],
)
def test_a_bad_scenario_is_refused_with_the_reason(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        written(tmp_path, text)


def test_an_unknown_name_lists_the_builtin_scenarios() -> None:
    with pytest.raises(BadInput, match=r"overload.*smoke"):
        read_scenario("nonesuch")


def test_even_arrivals_are_equally_spaced_within_each_phase() -> None:
    phases = (Phase("a", seconds=1.0, rate=2), Phase("b", seconds=2.0, rate=4))
    found = list(schedule(Scenario("t", phases, "absolute", "even")))
    assert found == pytest.approx([0.0, 0.5, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75])


def test_a_trace_is_replayed_in_its_phase(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("t_s,count\n0,30\n60,0\n120,12\n")
    text = f'title="t"\nrates="absolute"\n[[phases]]\nname="p"\nshape="trace"\npath="{tmp_path}/t.csv"\ntime_scale=60\n'
    scenario = written(tmp_path, text)
    assert scenario.seconds == pytest.approx(3.0)
    assert np.bincount(np.array(list(schedule(scenario))).astype(int)).tolist() == [30, 0, 12]
