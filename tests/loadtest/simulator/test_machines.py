"""Instances: how many, when, out of the pool or cold, and when they end."""

from __future__ import annotations

from loadtest.simulator.machines import LAG_SECONDS, QUIET_LOOKS, GroupPlan, Machine, Machines

PLAN = GroupPlan(warm_pool=2, warm_seconds=40.0, cold_seconds=240.0)


def group(plan: GroupPlan = PLAN) -> tuple[Machines, list[float]]:
    ready: list[float] = []
    return Machines(plan, ready.append), ready


def test_what_is_needed_comes_out_of_the_pool_first_and_the_rest_cold() -> None:
    machines, ready = group()
    machines.look(4, 60.0)
    at = 60.0 + LAG_SECONDS
    assert ready == [at + 40, at + 40, at + 240, at + 240]


def test_an_emptied_pool_is_filled_by_cold_starts() -> None:
    machines, ready = group()
    machines.look(2, 0.0)
    machines.look(3, 60.0)
    machines.look(4, 300.0)
    assert ready[2:] == [60 + LAG_SECONDS + 240, 300 + LAG_SECONDS + 40]


def test_free_instances_end_after_a_quarter_of_an_hour() -> None:
    machines, _ = group()
    machines.begin(3)
    kept = machines.place(0.0)
    for minute in range(1, QUIET_LOOKS):
        machines.look(1, minute * 60.0)
    assert len(machines.alive) == 3
    machines.look(1, QUIET_LOOKS * 60.0)
    assert machines.alive == [kept]
    assert [each.seconds(10_000.0) for each in machines.past] == [900.0, 900.0]


def test_a_task_waits_until_its_instance_is_ready() -> None:
    machines, _ = group()
    machines.look(1, 0.0)
    assert machines.place(10.0) is None
    placed = machines.place(LAG_SECONDS + 40.0)
    assert isinstance(placed, Machine)
    assert placed.has_task
    assert machines.place(1_000.0) is None


def test_a_lost_zone_takes_its_instances_and_its_part_of_the_pool() -> None:
    machines, ready = group(GroupPlan(warm_pool=4, warm_seconds=40.0, cold_seconds=240.0))
    machines.begin(4)
    assert len(machines.lose_zone(100.0)) == 2
    machines.look(7, 120.0)
    assert {each.zone for each in machines.alive} == {1}, "nothing is launched where nothing can be"
    at = 120.0 + LAG_SECONDS
    assert ready[4:] == [at + 40, at + 40, *[at + 240] * 3], "half of the pool is gone, and fills up cold"
    machines.zone_returns()
    machines.look(9, 180.0)
    assert {each.zone for each in machines.alive[-2:]} == {0}
