"""Which batch is launched when: full ones behind each other, express ones before them, or beside them on a CPU."""

from __future__ import annotations

import math
from collections.abc import Container
from types import SimpleNamespace
from typing import Any, cast

import pytest

from service.core.scheduling.scheduler import Scheduler
from service.core.types import Batch, Sequence
from service.engine.batch_forming import BatchFormer, FormedBatch
from service.engine.execution.in_flight import BatchPlace, InFlightBatch
from service.engine.execution.runner import BatchHandle
from service.engine.models.manager import ModelManager
from tests.support.budgets import FixedBudget
from tests.support.manual_device import HandMovedDevice
from tests.support.submissions import keys, scheduler, submission

BUDGET, FLOOD = 1_000, 250
BEGIN = 50.0
BASE, FULL = 0.005, 0.205
"""Seconds of an empty batch, and of a full one."""


class Models:
    """The part of the manager that is asked before a batch is formed."""

    def __init__(self) -> None:
        budget = FixedBudget(BUDGET)
        self.guard = SimpleNamespace(budget=budget, budget_tokens=budget.budget_tokens)

    def is_ready(self, revision: str, now: float, busy: Container[str]) -> bool:
        return True


class Engine:
    """A former whose batches begin when they are launched, and which knows how long they take."""

    def __init__(self, *, side_by_side: bool) -> None:
        device = HandMovedDevice()
        device.side_by_side = side_by_side
        self.queue: Scheduler[Any] = scheduler(1_000_000)
        self.former = BatchFormer(self.queue, cast(ModelManager, Models()), device)
        self._handles: dict[str, BatchHandle] = {}
        for tokens in (100, BUDGET) * 50:
            seconds = BASE + tokens / BUDGET * (FULL - BASE)
            handle = BatchHandle()
            self.former.in_flight.add(Batch("m", (Sequence("k", 0, tokens),)), handle, BUDGET, 0.0)
            handle.complete([])
            for launched in self.former.in_flight.completed():
                self.former.learn(launched, seconds)

    def admit(self, name: str, *lengths: int, client: str) -> None:
        assert self.queue.admit(submission(name, *lengths, client=client), 0.0, None) is None

    def flood(self, count: int = 20) -> None:
        for number in range(count):
            self.admit(f"flood{number}", FLOOD, client="flood")

    def launch(self, now: float) -> FormedBatch | None:
        formed = self.former.next_batch(now)
        if formed is not None:
            handle = self._handles[formed.batch.sequences[0].key] = BatchHandle()
            handle.begun_seconds = now
            self.former.in_flight.add(formed.batch, handle, BUDGET, now, formed.place)
        return formed

    def end(self, key: str, now: float) -> list[InFlightBatch]:
        handle = self._handles[key]
        handle.ended_seconds = now
        handle.complete([])
        delivered = list(self.former.in_flight.completed())
        for launched in delivered:
            self.queue.delivered(launched.batch)
        return delivered


@pytest.fixture(params=[False, True], ids=["gpu", "cpu"])
def engine(request: pytest.FixtureRequest) -> Engine:
    return Engine(side_by_side=request.param)


def flooded(*, side_by_side: bool) -> Engine:
    """One that has just begun the first batch of a flood."""
    engine = Engine(side_by_side=side_by_side)
    engine.flood()
    engine.launch(BEGIN)
    return engine


def launched_keys(formed: FormedBatch | None) -> list[str]:
    return keys(formed.batch) if formed else []


def test_who_has_little_waiting_goes_before_a_full_batch_and_not_in_it(engine: Engine) -> None:
    engine.flood()
    engine.admit("short", 20, client="other")
    assert launched_keys(engine.launch(BEGIN)) == ["short"]


def test_without_a_flood_all_share_a_batch(engine: Engine) -> None:
    engine.flood(2)
    engine.admit("short", 20, client="other")
    assert launched_keys(engine.launch(BEGIN)) == ["flood0", "short", "flood1"]


def test_one_client_s_documents_are_not_parted(engine: Engine) -> None:
    engine.flood()
    assert len(launched_keys(engine.launch(BEGIN))) == BUDGET // FLOOD


def test_only_a_device_that_shares_itself_computes_it_beside_a_running_batch() -> None:
    for side_by_side in (False, True):
        engine = flooded(side_by_side=side_by_side)
        engine.admit("short", 20, client="other")
        formed = engine.launch(BEGIN + 0.01)
        assert launched_keys(formed) == (["short"] if side_by_side else [])
        assert formed is None or formed.place is BatchPlace.BESIDE


def test_one_batch_at_a_time_runs_beside_others_and_is_delivered_before_they_end() -> None:
    engine = flooded(side_by_side=True)
    engine.admit("first", 20, client="a")
    engine.launch(BEGIN + 0.01)
    engine.admit("second", 20, client="b")
    assert engine.launch(BEGIN + 0.02) is None
    assert [keys(each.batch) for each in engine.end("first", BEGIN + 0.03)] == [["first"]]
    assert launched_keys(engine.launch(BEGIN + 0.03)) == ["second"]


def test_nor_behind_a_full_one_that_was_formed_meanwhile() -> None:
    engine = flooded(side_by_side=True)
    engine.admit("first", 20, client="a")
    engine.launch(BEGIN + 0.1)
    full = engine.launch(BEGIN + 0.19)
    assert full is not None
    assert full.place is BatchPlace.ORDINARY
    engine.admit("second", 20, client="b")
    assert engine.launch(BEGIN + 0.2) is None


def test_two_express_batches_do_not_follow_each_other_on_a_gpu() -> None:
    engine = Engine(side_by_side=False)
    engine.flood()
    engine.admit("first", 20, client="a")
    assert launched_keys(engine.launch(BEGIN)) == ["first"]
    engine.admit("second", 20, client="b")
    engine.end("first", BEGIN + 0.01)
    assert len(launched_keys(engine.launch(BEGIN + 0.01))) > 1


def test_what_runs_beside_neither_delays_the_next_full_batch_nor_makes_the_running_one_new() -> None:
    engine = flooded(side_by_side=True)
    before = engine.former.forms_after(BEGIN + 0.02)
    engine.admit("short", 20, client="other")
    engine.launch(BEGIN + 0.02)
    assert engine.former.forms_after(BEGIN + 0.02) == pytest.approx(before)
    engine.end("short", BEGIN + 0.1)
    assert engine.former.forms_after(BEGIN + 0.1) == pytest.approx(before - 0.08)


def test_on_a_gpu_it_is_the_next_one_shortly_before_the_running_one_ends() -> None:
    engine = flooded(side_by_side=False)
    engine.admit("short", 20, client="other")
    late = engine.former.forms_after(BEGIN)
    assert engine.launch(BEGIN + late / 2) is None
    assert launched_keys(engine.launch(BEGIN + late + 0.001)) == ["short"]


def test_on_a_gpu_the_full_one_is_formed_behind_it_as_if_it_were_not_there() -> None:
    """Else the device would wait for the host after each express batch, which is shorter than a launch takes."""
    engine = flooded(side_by_side=False)
    engine.admit("short", 20, client="other")
    late = engine.former.forms_after(BEGIN) + 0.001
    express = engine.launch(BEGIN + late)
    assert express is not None
    assert express.place is BatchPlace.BETWEEN
    later = engine.former.forms_after(BEGIN + late)
    assert later == pytest.approx(BASE + 20 / BUDGET * (FULL - BASE), abs=0.002), "what the express one takes"
    full_due = BEGIN + late + later + 0.001
    assert len(launched_keys(engine.launch(full_due))) == BUDGET // FLOOD
    assert engine.former.forms_after(full_due) == math.inf
    engine.end("flood0", BEGIN + FULL)
    left = engine.former.forms_after(BEGIN + FULL)
    assert left == pytest.approx(late + later, abs=0.003), "the next but one is due as late as in a cycle without it"


def test_on_a_cpu_an_express_batch_that_is_the_next_one_is_one_of_the_two() -> None:
    engine = Engine(side_by_side=True)
    engine.flood()
    engine.admit("short", 20, client="other")
    express = engine.launch(BEGIN)
    assert launched_keys(express) == ["short"]
    assert express is not None
    assert express.place is BatchPlace.ORDINARY


def test_a_batch_that_is_about_to_end_is_waited_for() -> None:
    engine = Engine(side_by_side=True)
    engine.admit("small", 60, client="a")
    engine.launch(BEGIN)
    engine.admit("short", 20, client="other")
    assert engine.launch(BEGIN + 0.012) is None
