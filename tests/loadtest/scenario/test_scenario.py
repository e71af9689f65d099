"""Scenarios: the built-in ones, files, and what is wrong with bad ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from loadtest.errors import BadInput
from loadtest.scenario.scenario import Scenario, at_capacity, builtin_scenarios, read_scenario, stretched
from loadtest.scenario.schedule import most_per_second, schedule
from loadtest.workload.mix import make_jobs


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


def test_the_documented_scenarios_are_built_in() -> None:
    names = {"smoke", "default", "soak", "overload", "storm", "spike", "mixed", "models", "deploy"}
    assert set(builtin_scenarios()) == names


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
