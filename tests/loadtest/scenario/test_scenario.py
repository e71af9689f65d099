from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from loadtest.errors import BadInput
from loadtest.scenario.scenario import (
    Scenario,
    at_capacity,
    builtin_scenarios,
    most_per_second,
    read_scenario,
    schedule,
    stretched,
)
from loadtest.workload.mix import make_jobs


def written(folder: Path, text: str) -> Scenario:
    (folder / "s.toml").write_text(text)
    return read_scenario(str(folder / "s.toml"))


@pytest.mark.parametrize("name", builtin_scenarios())
def test_a_scenario_that_ships_can_be_read_and_made(name: str) -> None:
    scenario = at_capacity(read_scenario(name), 20.0)
    assert make_jobs(scenario.mix, {})
    moments = np.array(list(schedule(stretched(scenario, 20.0))))
    assert len(moments)
    assert (np.diff(moments) >= 0).all()
    assert 0 <= moments[0] <= moments[-1] < 20.0


def test_all_scenarios_that_are_promised_are_there() -> None:
    assert set(builtin_scenarios()) == {"smoke", "default", "soak", "overload", "spike", "mixed", "models", "deploy"}


def test_shares_of_the_capacity_become_rates() -> None:
    scenario = at_capacity(read_scenario("overload"), 7.0)
    assert most_per_second(scenario) == pytest.approx(70)
    assert [phase.rate for phase in scenario.phases if phase.name == "10 times"] == [70]
    assert at_capacity(scenario, 3.0) == scenario


def test_a_trace_is_replayed_in_its_phase(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("t_s,count\n0,30\n60,0\n120,12\n")
    text = f'title="t"\nrates="absolute"\n[[phases]]\nname="p"\nshape="trace"\npath="{tmp_path}/t.csv"\ntime_scale=60\n'
    scenario = written(tmp_path, text)
    assert scenario.seconds == pytest.approx(3.0)
    assert np.bincount(np.array(list(schedule(scenario))).astype(int)).tolist() == [30, 0, 12]


def test_a_day_is_squeezed_into_its_phase(tmp_path: Path) -> None:
    text = 'title="t"\nrates="absolute"\n[[phases]]\nname="p"\nshape="day"\nkind="spiky"\nrate=50\nseconds=24\n'
    moments = list(schedule(written(tmp_path, text)))
    assert len(moments) == pytest.approx(1_200, abs=1)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('title="t"\n', "phases"),
        ('title="t"\nphases=[]\n', "needs a phase"),
        ('title="t"\n[[phases]]\nname="p"\n', "needs `seconds`"),
        ('title="t"\n[[phases]]\nname="p"\nsecond=3\n', "second"),
        ("title=", "cannot be used"),
    ],
)
def test_a_bad_scenario_says_what_is_wrong(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        written(tmp_path, text)


def test_an_unknown_name_lists_those_there_are() -> None:
    with pytest.raises(BadInput, match=r"overload.*smoke"):
        read_scenario("nonesuch")
