"""Evidence, profiles and template say the same, and the evidence can be had again."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from infra.environments import ENVIRONMENTS
from infra.scaling.deployed_policy import read_template
from infra.scaling.policy import policy_for
from infra.scaling.profiles import BURSTY, STEADY
from loadtest.simulator.evidence.__main__ import BENCHMARKS, read_evidence
from loadtest.simulator.evidence.choice import INCUMBENT, Cell, bursty, cell, steady, table
from loadtest.simulator.evidence.grid import CANDIDATES, DEMANDS, outcome

EVIDENCE = read_evidence()
BY_NAME = {each.name: each for each in CANDIDATES}


def test_the_profiles_are_those_that_the_rule_chooses() -> None:
    assert (bursty(EVIDENCE.cells), steady(EVIDENCE.cells)) == (EVIDENCE.bursty, EVIDENCE.steady)
    assert EVIDENCE.tunings[EVIDENCE.bursty] == asdict(BURSTY)
    assert EVIDENCE.tunings[EVIDENCE.steady] == asdict(STEADY)


def test_the_grid_is_the_one_that_was_simulated() -> None:
    assert EVIDENCE.tunings == {each.name: asdict(each.tuning) for each in CANDIDATES}
    assert {(each.candidate, each.shape) for each in EVIDENCE.cells} == {
        (candidate.name, run.shape) for candidate in CANDIDATES for run in DEMANDS
    }


def test_a_cell_that_is_simulated_again_is_the_same() -> None:
    """If this fails, simulator or policy have changed: `python -m loadtest.simulator.evidence` writes the evidence."""
    run = next(each for each in DEMANDS if each.shape == "step")
    again = cell(EVIDENCE.bursty, True, [outcome(BY_NAME[EVIDENCE.bursty], run, seed) for seed in run.seeds])
    (recorded,) = (each for each in EVIDENCE.cells if (each.candidate, each.shape) == (EVIDENCE.bursty, "step"))
    assert again == recorded


def test_benchmarks_has_the_table() -> None:
    assert table(EVIDENCE) in BENCHMARKS.read_text()


def test_the_template_has_the_chosen_policy(deployed: Path) -> None:
    production = ENVIRONMENTS[0]
    start = production.timed_delays.start_seconds
    found = read_template(json.loads(deployed.read_text()), start_seconds=start)
    wanted = policy_for(limits=production.limits, delays=production.timed_delays, tuning=BURSTY)
    chosen = BY_NAME[EVIDENCE.bursty]
    assert found.policy.tracking == wanted.tracking
    assert [(each.steps, each.alarm.conditions, each.alarm.periods) for each in found.policy.steps] == [
        (each.steps, each.alarm.conditions, each.alarm.periods) for each in wanted.steps
    ]
    assert found.warm_pool == chosen.warm_pool
    assert wanted.capacity.max_queue_ms == chosen.limit_seconds * 1000, "which the tasks get with a measured capacity"


def a_cell(candidate: str, shape: str, sudden: bool, kept: float, dollars: float) -> Cell:
    return Cell(candidate, shape, sudden, kept, 0.0, 1 - kept, 100.0, dollars, 1.3, 0.0, 1.0)


@pytest.mark.parametrize(
    ("kept_by_cheap", "for_bursts", "for_calm"),
    [((0.97, 0.9995), "cheap", "cheap"), ((0.90, 0.9995), "dear", "cheap"), ((0.97, 0.99), "cheap", "dear")],
)
def test_the_cheapest_that_keeps_enough_is_chosen(
    kept_by_cheap: tuple[float, float], for_bursts: str, for_calm: str
) -> None:
    step, wave = kept_by_cheap
    cells = [
        a_cell("dear", "step", True, 0.972, 5.0),
        a_cell("dear", "wave", False, 1.0, 5.0),
        a_cell("cheap", "step", True, step, 4.0),
        a_cell("cheap", "wave", False, wave, 4.0),
    ]
    assert (bursty(cells), steady(cells)) == (for_bursts, for_calm)


@pytest.mark.parametrize(("kept_by_cheap", "chosen"), [(0.9905, "cheap"), (0.985, "dear")])
def test_where_none_keeps_what_is_wanted_those_that_keep_nearly_as_many_as_the_best_are_left(
    kept_by_cheap: float, chosen: str
) -> None:
    cells = [a_cell("dear", "wave", False, 0.995, 5.0), a_cell("cheap", "wave", False, kept_by_cheap, 4.0)]
    assert steady(cells) == chosen


@pytest.mark.parametrize(("dollars", "chosen"), [(4.8, INCUMBENT), (4.7, "cheap")])
def test_what_is_deployed_stays_unless_a_change_pays(dollars: float, chosen: str) -> None:
    cells = [a_cell(INCUMBENT, "wave", False, 1.0, 5.0), a_cell("cheap", "wave", False, 1.0, dollars)]
    assert steady(cells) == chosen
