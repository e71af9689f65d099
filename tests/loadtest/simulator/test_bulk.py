"""A bulk job beside interactive work, against arithmetic: the room that is left, the tasks that a deadline needs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from infra.scaling.capacity import ASSUMED
from infra.scaling.limits import Delays, Limits
from infra.scaling.policy import policy_for
from loadtest.simulator.bulk import BulkDemand, SimulatedJob
from loadtest.simulator.demand import Demand
from loadtest.simulator.fleet import FIRST_TASK, Fleet, FleetRun
from loadtest.simulator.fleet_scaling import FleetScaling
from loadtest.simulator.outcome import Outcome, outcome_of
from loadtest.simulator.service_model import model_of
from loadtest.simulator.single_task import LatencyTable, latency_table
from service.core.bulk_scaling import LEAD_SECONDS

MODEL = model_of(ASSUMED)
DETERMINISTIC = 0.005
HOUR = 3600


def fleet(minimum: int, maximum: int, bulk_tasks: int = 0) -> FleetScaling:
    limits = Limits(minimum_tasks=minimum, maximum_tasks=maximum)
    return FleetScaling(
        policy=policy_for(
            limits=limits, delays=Delays(start_seconds=135.0, longest_request_seconds=70), bulk_tasks=bulk_tasks
        ),
        warm_pool=maximum,
        max_queue_seconds=10.0,
    )


def steady(busy_tasks: float, hours: float) -> Demand:
    """The same number each second, which keeps so many tasks busy."""
    counts = np.full(round(hours * HOUR), busy_tasks / MODEL.document_seconds)
    return Demand("constant", counts, np.ones_like(counts))


@pytest.fixture(scope="module")
def table() -> LatencyTable:
    return latency_table(MODEL)


def run(
    table: LatencyTable, scaling: FleetScaling, demand: Demand, bulk: BulkDemand
) -> tuple[FleetRun, Outcome, SimulatedJob]:
    simulated = Fleet(scaling, MODEL, table, bulk=bulk)
    found = simulated.run(demand)
    assert simulated.bulk is not None
    return found, outcome_of(found, demand, scaling, MODEL, table, 0.8), simulated.bulk


@pytest.mark.parametrize(("tasks", "load"), [(2, 0.0), (2, 0.5), (4, 0.25), (4, 0.6)])
def test_a_job_is_done_when_the_room_adds_up_to_its_work(table: LatencyTable, tasks: int, load: float) -> None:
    work = 3000.0
    job = run(table, fleet(tasks, tasks), steady(load * tasks, 2), BulkDemand(files=work / 0.5, file_seconds=0.5))[2]
    assert job.ended_seconds == pytest.approx(work / (tasks * (1 - load)), rel=DETERMINISTIC)


@pytest.mark.parametrize(("task_hours", "hours"), [(8.0, 2.0), (12.0, 1.5), (6.0, 3.0)])
def test_a_deadline_gets_the_tasks_of_the_quotient_and_is_met(
    table: LatencyTable, task_hours: float, hours: float
) -> None:
    bulk = BulkDemand(files=task_hours * HOUR, file_seconds=1.0, deadline_seconds=hours * HOUR)
    found, _, job = run(table, fleet(2, 20, bulk_tasks=16), steady(0.0, hours + 1), bulk)
    wanted = task_hours * HOUR / (hours * HOUR - LEAD_SECONDS)
    assert math.ceil(wanted) <= max(minute.wanted for minute in found.minutes) <= 1.4 * wanted + 1
    assert job.in_time
    assert {each.by for each in found.decisions if each.added > 0} == {"bulk-behind"}
    assert found.minutes[-1].wanted < wanted, "they go when the job is done"


def test_a_deadline_out_of_reach_of_its_tasks_is_missed(table: LatencyTable) -> None:
    bulk = BulkDemand(files=20.0 * HOUR, file_seconds=1.0, deadline_seconds=2.0 * HOUR)
    found, _, job = run(table, fleet(2, 20, bulk_tasks=4), steady(0.0, 3), bulk)
    assert job.in_time is False
    assert max(minute.wanted for minute in found.minutes) <= 5
    assert job.left == pytest.approx(20.0 * HOUR - 3 * HOUR * 4, rel=0.1)


def test_without_a_deadline_a_job_costs_nothing_and_keeps_no_task(table: LatencyTable) -> None:
    """Ten tasks of a busy hour go in the quiet ones after it, whatever the job has left."""
    counts = np.concatenate([steady(6.0, 1).counts, steady(0.6, 2).counts])
    demand = Demand("evening", counts, np.ones_like(counts))
    endless, none = (BulkDemand(files=files, file_seconds=1.0) for files in (1e9, 0.0))
    found, beside, job = run(table, fleet(2, 20), demand, endless)
    alone = run(table, fleet(2, 20), demand, none)[1]
    assert job.left < 1e9
    assert beside.instance_hours == alone.instance_hours
    assert found.minutes[59].wanted >= 8 > found.minutes[-1].wanted
    assert beside.kept == pytest.approx(alone.kept, abs=0.002)


def test_interactive_work_goes_first_and_waits_for_one_batch(table: LatencyTable) -> None:
    demand = steady(1.0, 0.5)
    beside, alone = (
        run(table, fleet(2, 2), demand, BulkDemand(files=files, file_seconds=1.0))[1] for files in (1e9, 0.0)
    )
    batch_ms = MODEL.batch_seconds(MODEL.batch_tokens) * 1000
    assert alone.p99_ms < beside.p99_ms <= 2 * batch_ms + 10
    assert beside.kept == alone.kept == 1.0


def test_a_fleet_from_none_starts_for_a_job_and_ends_after_it(table: LatencyTable) -> None:
    bulk = BulkDemand(files=2.0 * HOUR, file_seconds=1.0, begins_seconds=600.0, deadline_seconds=1.5 * HOUR)
    found, outcome, job = run(table, replace(fleet(0, 8, bulk_tasks=8), warm_pool=0), steady(0.0, 3), bulk)
    first = found.decisions[0]
    assert (first.by, first.at_seconds, first.tasks_after) == (FIRST_TASK, 660, 1)
    assert job.in_time
    assert found.minutes[9].machines == 0
    assert found.minutes[-1].wanted == 0
    assert 2.0 < outcome.instance_hours < 5.0
