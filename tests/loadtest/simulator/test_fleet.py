"""A whole fleet under named demands: sums, the policy's promises, releases, Spot, and the same seed twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from infra.instances import NOTICED_SECONDS
from infra.scaling.capacity import ASSUMED
from infra.scaling.limits import Delays, Limits, Schedule
from infra.scaling.policy import policy_for, with_gpu_target
from loadtest.simulator.demand import Demand, make_demand
from loadtest.simulator.fleet import Fleet, FleetRun
from loadtest.simulator.fleet_scaling import FleetScaling
from loadtest.simulator.outcome import Outcome, outcome_of
from loadtest.simulator.service_model import model_of
from loadtest.simulator.single_task import LatencyTable, latency_table
from loadtest.simulator.tasks import Events, ZoneLoss

MODEL = replace(model_of(ASSUMED), max_queue_seconds=2.0)
SCALING = FleetScaling(
    policy=policy_for(limits=Limits(minimum_tasks=2, maximum_tasks=40)),
    warm_pool=20,
    max_queue_seconds=2.0,
)


@pytest.fixture(scope="module")
def table() -> LatencyTable:
    return latency_table(MODEL)


def run(
    table: LatencyTable,
    demand: Demand,
    scaling: FleetScaling = SCALING,
    events: Events | None = None,
) -> tuple[FleetRun, Outcome]:
    found = Fleet(scaling, MODEL, table, events=events).run(demand)
    return found, outcome_of(found, demand, scaling, MODEL, table, 0.8)


def test_every_document_is_kept_late_refused_or_lost(table: LatencyTable) -> None:
    demand = make_demand("flash", 300.0, 2, 3600)
    _, outcome = run(table, demand)
    assert outcome.documents == pytest.approx(demand.counts.sum())
    assert outcome.kept + outcome.late + outcome.refused + outcome.lost == pytest.approx(1.0)
    assert outcome.refused > 0


def test_a_step_is_decided_on_in_half_a_minute_and_the_pool_answers_it(table: LatencyTable) -> None:
    """Instances come 75 s after the decision at the latest, and serve a minute later."""
    demand = make_demand("step", 280.0, 1, 3600)
    found, _ = run(table, demand)
    more = [each for each in found.decisions if each.tasks_after > each.tasks_before and each.at_seconds > 900]
    assert more[0].at_seconds - 900 <= 30
    assert sum(each.tasks_after for each in more[:1]) >= 10, "most of the five-fold load is seen at once"
    at = {minute.at_seconds: minute for minute in found.minutes}
    assert at[900 + 240].longest_queue_seconds < 1.0
    assert at[900 + 240].serving >= 14


def test_the_same_seed_gives_the_same_run(table: LatencyTable) -> None:
    demand = make_demand("flash", 300.0, 2, 1800)
    assert run(table, demand)[1] == run(table, demand)[1]
    assert not np.array_equal(demand.counts, make_demand("flash", 300.0, 3, 1800).counts)


def test_a_release_replaces_every_task_without_fewer_than_are_wanted(table: LatencyTable) -> None:
    demand = make_demand("steady", 270.0, 1, 3600)
    found, outcome = run(table, demand, events=Events(releases=(600.0,)))
    plain = run(table, demand)[1]
    assert min(minute.serving for minute in found.minutes) >= min(minute.wanted for minute in found.minutes)
    assert outcome.starts >= 2
    assert outcome.kept == pytest.approx(plain.kept, abs=1e-3)
    assert outcome.instance_hours > plain.instance_hours


def test_the_loss_of_a_zone_is_made_good_elsewhere(table: LatencyTable) -> None:
    """Half of the tasks are gone for as long as a start takes; their share is lost until the balancer has noticed."""
    demand = make_demand("steady", 560.0, 1, 3600)
    lost = Events(zone_losses=(ZoneLoss(at_seconds=1200.0),))
    found, outcome = run(table, demand, events=lost)
    at = {minute.at_seconds: minute.serving for minute in found.minutes}
    assert at[1260] == at[1200] // 2
    assert at[1560] >= at[1200]
    arrived = demand.counts[1200 : 1200 + NOTICED_SECONDS].sum()
    assert outcome.lost * outcome.documents == pytest.approx(arrived / 2, rel=0.15)
    assert outcome.documents == pytest.approx(demand.counts.sum()), "nothing is counted twice"
    assert outcome.refused + outcome.late > run(table, demand)[1].refused


def test_what_waited_where_a_zone_was_is_lost(table: LatencyTable) -> None:
    demand = make_demand("steady", 100.0, 1, 600)
    busy = replace(demand, counts=demand.counts * np.where(np.arange(600) < 400, 1.0, 6.0))
    short = replace(SCALING, policy=policy_for(limits=Limits(minimum_tasks=2, maximum_tasks=2)))
    calm, full = (run(table, busy, short, Events(zone_losses=(ZoneLoss(at_seconds=at),)))[1] for at in (200.0, 420.0))
    in_queue = 2.0 / MODEL.document_seconds
    noticed = busy.counts[420 : 420 + NOTICED_SECONDS].sum() / 2
    assert full.lost * full.documents == pytest.approx(noticed + in_queue, rel=0.05)
    assert calm.lost * calm.documents == pytest.approx(busy.counts[200 : 200 + NOTICED_SECONDS].sum() / 2, rel=0.05)


BRIEF = Delays(longest_request_seconds=70)
SPOT = replace(SCALING, policy=replace(SCALING.policy, delays=BRIEF), warm_pool=0, spot_weight=0.75)


@pytest.mark.parametrize("target_percent", [100, 60])
def test_a_notice_of_spot_loses_nothing(table: LatencyTable, target_percent: int) -> None:
    demand = make_demand("steady", 270.0, 1, 3600)
    scaling = replace(SPOT, target_percent=target_percent)
    found, outcome = run(table, demand, scaling, Events(spot_notices=(1200.0, 2400.0)))
    assert outcome.lost == 0
    assert found.minutes[-1].serving == found.minutes[-1].wanted


def test_without_an_instance_on_spot_a_notice_is_for_nobody(table: LatencyTable) -> None:
    demand = make_demand("steady", 270.0, 1, 1800)
    assert run(table, demand, SCALING, Events(spot_notices=(600.0,)))[1] == run(table, demand, SCALING)[1]


def test_a_target_for_the_gpu_buys_more_than_the_work_needs(table: LatencyTable) -> None:
    demand = make_demand("steady", 270.0, 1, 3600)
    insisting = replace(SCALING, policy=with_gpu_target(SCALING.policy, 60))
    more, plain = run(table, demand, insisting), run(table, demand)
    assert more[1].dollars_per_million > 1.5 * plain[1].dollars_per_million
    assert {each.by for each in more[0].decisions if each.added > 0} == {"gpu-target"}
    back = replace(SCALING, policy=with_gpu_target(insisting.policy, 0))
    assert run(table, demand, back)[1] == plain[1]


def test_refused_work_that_comes_again_counts_again(table: LatencyTable) -> None:
    demand = make_demand("step", 280.0, 1, 3600)
    given_up, again = run(table, demand)[1], run(table, demand, events=Events(retry_share=0.8))[1]
    assert again.refused < given_up.refused
    assert again.documents == pytest.approx(given_up.documents)


def test_a_schedule_raises_the_minimum_at_its_time(table: LatencyTable) -> None:
    early = Schedule(name="early", cron="30 0 ? * MON-FRI *", timezone="UTC", minimum_tasks=6)
    scheduled = replace(SCALING, policy=replace(SCALING.policy, schedules=(early,)))
    found, _ = run(table, make_demand("steady", 100.0, 1, 3600), scheduled)
    at = {minute.at_seconds: minute.wanted for minute in found.minutes}
    assert (at[1740], at[1860]) == (2, 6)
