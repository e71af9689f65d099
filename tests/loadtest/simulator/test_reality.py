"""The simulator beside an autoscaling test with real services, each as slow as 2 documents a second.

The rows are those that `make autoscaling-test` printed on a quiet machine (BENCHMARKS.md, "Scaling, rehearsed").
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from infra.scaling.deployed_policy import Deployed
from infra.scaling.policy_values import Delays
from loadtest.scaling.__main__ import DOCUMENTS_PER_SECOND, TOKENS_PER_DOCUMENT, plan_for
from loadtest.simulator.demand import Demand
from loadtest.simulator.fleet import Fleet, FleetRun
from loadtest.simulator.machines import TASK_START_SECONDS
from loadtest.simulator.service_model import Documents, ServiceModel
from loadtest.simulator.single_task import latency_table

STARTS_IN_SECONDS = 75.0
"""From the decision to a task that serves, as it was."""


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """One row of the test; the queue is the mean of a task's documents."""

    at: int
    serving: int
    work_ratio: float
    backlog_seconds: float
    slowest_seconds: float


MEASURED = (
    MeasuredRow(70, 2, 1.75, 13.0, 9.14),
    MeasuredRow(80, 2, 2.23, 28.5, 15.14),
    MeasuredRow(90, 2, 2.42, 43.5, 21.15),
    MeasuredRow(110, 2, 2.47, 73.0, 33.17),
    MeasuredRow(140, 2, 2.51, 118.1, 51.29),
    MeasuredRow(200, 7, 0.72, 31.2, 87.36),
    MeasuredRow(250, 8, 0.63, 14.9, 117.41),
    MeasuredRow(300, 8, 0.62, 2.4, 147.43),
)


@pytest.fixture(scope="module")
def simulated() -> tuple[FleetRun, dict[int, tuple[float, float, float]]]:
    """The run, and each second's work ratio, mean backlog and longest queue."""
    plan = plan_for(240.0, 540.0)
    speed = plan.tokens_per_second
    model = ServiceModel(
        base_seconds=0.0,
        seconds_per_token=1 / speed,
        batch_tokens=256,
        documents=Documents(TOKENS_PER_DOCUMENT, spread=0.0),
        slo_seconds=2.0,
        window_tokens=256,
        overlap_tokens=64,
    )
    assert 1 / model.document_seconds == pytest.approx(DOCUMENTS_PER_SECOND)
    boot = STARTS_IN_SECONDS
    policy = replace(plan.policy, delays=replace(plan.policy.delays, warm_start_seconds=boot, cold_start_seconds=boot))
    deployed = Deployed(
        policy=policy,
        warm_pool=0,
        target_percent=100,
        maximum_percent=150,
        deregistration_seconds=6.0,
        spot_base=99,
        spot_weight=0.0,
        max_queue_seconds=math.inf,
        queue_limit_tokens=2_000_000,
        deadline_seconds=300.0,
        managed=False,
    )
    assert boot > TASK_START_SECONDS
    rates = [phase.rate for phase in plan.phases for _ in range(round(phase.seconds))]
    demand = Demand("autoscaling", np.array(rates), np.ones(len(rates)))
    fleet = Fleet(deployed, model, latency_table(model))
    seen: dict[int, tuple[float, float, float]] = {}
    tasks = fleet.serving
    second = tasks.second

    def watched(count: float, length: float) -> float:
        refused = second(count, length)
        ratio, backlog = float(tasks.work_ratio.mean()), float(tasks.backlog_seconds.mean())
        seen[len(seen) + 1] = (ratio, backlog, float(tasks.queue.max()))
        return refused

    tasks.second = watched  # type: ignore[method-assign]
    tasks.calm_seconds = lambda counts, lengths: False  # type: ignore[method-assign]
    return fleet.run(demand), seen


def test_the_same_decisions_are_made(simulated: tuple[FleetRun, dict[int, tuple[float, float, float]]]) -> None:
    """Real: 2 → 7 after 25 s and 7 → 8 after 85 s; then the first less at 605 s, and one every two minutes."""
    made = [(each.by, each.tasks_before, each.tasks_after) for each in simulated[0].decisions[:3]]
    assert made == [("work-ratio-high", 2, 7), ("work-ratio-high", 7, 8), ("idle", 8, 7)]
    first, second, fewer, *more = (each.at_seconds for each in simulated[0].decisions)
    assert (first, second) == (80.0, 140.0), "and five seconds of delay: 85 and 145"
    assert fewer == pytest.approx(600, abs=20)
    assert more[0] - fewer == pytest.approx(120, abs=10)


@pytest.mark.parametrize("row", MEASURED, ids=lambda row: f"{row.at} s")
def test_work_ratio_and_backlog_are_those_that_were_measured(
    row: MeasuredRow, simulated: tuple[FleetRun, dict[int, tuple[float, float, float]]]
) -> None:
    ratio, backlog, _ = simulated[1][row.at]
    assert ratio == pytest.approx(row.work_ratio, rel=0.06, abs=0.05)
    assert backlog == pytest.approx(row.backlog_seconds, rel=0.05, abs=2.5)


@pytest.mark.parametrize("row", MEASURED, ids=lambda row: f"{row.at} s")
def test_the_slowest_answer_waited_as_long_as_its_queue_was_when_it_came(
    row: MeasuredRow, simulated: tuple[FleetRun, dict[int, tuple[float, float, float]]]
) -> None:
    """Answered five seconds after `at`, when the row is made, or before: it came so much earlier, to such a queue."""
    came = math.floor(row.at + Delays().ingest_seconds - row.slowest_seconds)
    waited = simulated[1][came][2]
    assert waited == pytest.approx(row.slowest_seconds, rel=0.03, abs=2.0)
