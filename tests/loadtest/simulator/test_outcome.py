"""Decision and recovery out of a run's decisions and troubles."""

from __future__ import annotations

import numpy as np

from infra.scaling.autoscaler import Decision
from loadtest.simulator.demand import Demand
from loadtest.simulator.fleet import FleetRun
from loadtest.simulator.outcome import StepResponse, step_response
from loadtest.simulator.task_group import Tally

DEMAND = Demand("even", np.full(600, 10.0), np.ones(600))


def run(troubles: list[tuple[int, float]], *decisions: Decision) -> StepResponse:
    return step_response(FleetRun(Tally(), troubles=troubles, decisions=list(decisions)), DEMAND, 100, 5.0)


def test_a_decision_counts_with_the_delay_of_its_points() -> None:
    before, fewer, more = Decision(90, "a", 1, 2, 3), Decision(110, "b", 1, 3, 2), Decision(120, "a", 1, 2, 9)
    assert run([], before, fewer, more).decided_seconds == 25.0
    assert run([], before, fewer).decided_seconds is None


def test_recovered_is_the_first_minute_that_keeps_99_percent() -> None:
    assert run([(second, 5.0) for second in range(110, 230)]).recovered_seconds == 129.0, "one second is 0.8 %"
    assert run([]).recovered_seconds == 0.0
    assert run([(second, 1.0) for second in range(100, 600)]).recovered_seconds is None
