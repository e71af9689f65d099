"""Which batch is launched when: full ones one behind the other, and one for clients with a small backlog."""

from __future__ import annotations

import math
from collections.abc import Container
from types import SimpleNamespace
from typing import Any, cast

import pytest

from service.core.scheduling.scheduler import Scheduler
from service.core.scheduling.small_backlog import WORTHWHILE_SECONDS
from service.core.scheduling.throughput import ThroughputMeter, TimedBatch
from service.core.types import Priority
from service.engine.batch_forming import HOST_SECONDS, INTERACTIVE_SECONDS, LAST_SHARE, BatchFormer, FormedBatch
from service.engine.execution.runner import BatchHandle
from service.engine.models.manager import ModelManager
from tests.support.budgets import FixedBudget
from tests.support.manual_device import HandMovedDevice
from tests.support.submissions import keys, scheduler, submission

BUDGET, FLOOD = 1_000, 250
BEGIN, FULL = 50.0, 0.2
LATE = FULL * (1 - LAST_SHARE)
"""Seconds of a full batch, and until its last share."""


class Models:
    """The part of the manager that is asked before a batch is formed."""

    def __init__(self) -> None:
        budget = FixedBudget(BUDGET)
        self.guard = SimpleNamespace(budget=budget, budget_tokens=budget.budget_tokens)
        self.weights = self

    def is_ready(self, revision: str, now: float, busy: Container[str]) -> bool:
        return True


class Engine:
    """A former whose batches begin when they are launched, on a device of known speed."""

    def __init__(self, *, takes_turns: bool = False, full_seconds: float | None = FULL) -> None:
        device, throughput = HandMovedDevice(), ThroughputMeter()
        device.takes_turns = takes_turns
        if full_seconds is not None:
            throughput.warmed(TimedBatch(BUDGET, full_seconds), full_tokens=BUDGET)
        self.queue: Scheduler[Any] = scheduler(1_000_000)
        self.former = BatchFormer(self.queue, cast(ModelManager, Models()), device, throughput)
        self._handles: dict[str, BatchHandle] = {}

    def admit(self, name: str, *lengths: int, client: str, priority: Priority = Priority.INTERACTIVE) -> None:
        assert self.queue.admit(submission(name, *lengths, client=client, priority=priority), 0.0, None) is None

    def bulk(self, count: int = 20) -> None:
        for number in range(count):
            self.admit(f"bulk{number}", FLOOD, client="bulk", priority=Priority.BATCH)

    def flood(self, count: int = 20) -> None:
        for number in range(count):
            self.admit(f"flood{number}", FLOOD, client="flood")

    def launch(self, now: float) -> FormedBatch | None:
        formed = self.former.next_batch(now)
        if formed is not None:
            handle = self._handles[formed.batch.sequences[0].key] = BatchHandle()
            handle.begun_seconds = now
            self.former.in_flight.add(formed.batch, handle, BUDGET, timed=formed.timed)
        return formed

    def end(self, key: str, now: float) -> None:
        handle = self._handles[key]
        handle.ended_seconds = now
        handle.complete([])
        for launched in self.former.in_flight.completed():
            self.queue.delivered(launched.batch)


@pytest.fixture(params=[False, True], ids=["gpu", "cpu"])
def engine(request: pytest.FixtureRequest) -> Engine:
    return Engine(takes_turns=request.param)


def flooded(**device: Any) -> Engine:
    """One that has just begun the first batch of a flood."""
    engine = Engine(**device)
    engine.flood()
    assert engine.launch(BEGIN) is not None
    return engine


def launched_keys(formed: FormedBatch | None) -> list[str]:
    return keys(formed.batch) if formed else []


def test_a_free_device_gets_a_lone_document_at_once(engine: Engine) -> None:
    assert engine.former.forms_after(BEGIN) == math.inf
    engine.admit("lone", 20, client="a")
    assert engine.former.forms_after(BEGIN) == 0.0
    assert launched_keys(engine.launch(BEGIN)) == ["lone"]


def test_a_full_batch_is_formed_in_the_last_share_of_the_running_one() -> None:
    engine = flooded()
    assert engine.former.forms_after(BEGIN) == pytest.approx(LATE)
    assert engine.launch(BEGIN + LATE - 0.01) is None
    assert len(launched_keys(engine.launch(BEGIN + LATE + 0.001))) == BUDGET // FLOOD
    assert engine.former.forms_after(BEGIN + FULL) == math.inf, "two are in flight"
    engine.end("flood0", BEGIN + FULL)
    assert engine.former.forms_after(BEGIN + FULL) == pytest.approx(LATE), "the second has just begun"


def test_of_a_short_batch_the_next_one_is_formed_early_enough_for_the_host() -> None:
    engine = flooded(full_seconds=0.01)
    assert engine.former.forms_after(BEGIN) == pytest.approx(0.01 - HOST_SECONDS)


def test_while_the_speed_is_unknown_a_full_batch_is_formed_at_once() -> None:
    assert flooded(full_seconds=None).former.forms_after(BEGIN) == 0.0


def test_a_batch_that_takes_too_long_has_the_next_one_behind_it() -> None:
    engine = flooded()
    assert launched_keys(engine.launch(BEGIN + 10.0)) != []
    assert engine.launch(BEGIN + 10.0) is None


def test_a_batch_that_is_not_full_waits_for_the_device_to_be_free(engine: Engine) -> None:
    engine.flood(4)
    engine.launch(BEGIN)
    engine.admit("late", FLOOD, client="flood")
    assert engine.former.forms_after(BEGIN + LATE + 0.001) == math.inf
    engine.end("flood0", BEGIN + FULL)
    assert launched_keys(engine.launch(BEGIN + FULL)) == ["late"]


def test_a_small_backlog_goes_before_a_full_batch_and_not_in_it(engine: Engine) -> None:
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


@pytest.mark.parametrize("full_seconds", [WORTHWHILE_SECONDS / 2, None])
def test_on_a_fast_or_unknown_device_all_share_a_batch(full_seconds: float | None) -> None:
    engine = Engine(full_seconds=full_seconds)
    engine.flood()
    engine.admit("short", 20, client="other")
    assert "short" in launched_keys(engine.launch(BEGIN))
    assert len(launched_keys(engine.launch(BEGIN + 1.0))) > 1


def test_on_a_gpu_it_is_the_next_one_in_the_last_share_of_the_running_one() -> None:
    engine = flooded()
    engine.admit("short", 20, client="other")
    assert engine.launch(BEGIN + LATE / 2) is None
    small = engine.launch(BEGIN + LATE + 0.001)
    assert launched_keys(small) == ["short"]
    assert small is not None
    assert small.timed


def test_on_a_cpu_it_runs_at_once_beside_the_running_one_and_is_not_timed() -> None:
    engine = flooded(takes_turns=True)
    engine.admit("short", 20, client="other")
    small = engine.launch(BEGIN + 0.01)
    assert launched_keys(small) == ["short"]
    assert small is not None
    assert not small.timed
    before = engine.former.forms_after(BEGIN + LATE + 0.001)
    assert before == math.inf, "two are in flight"
    engine.end("short", BEGIN + 0.02)
    assert engine.former.forms_after(BEGIN + 0.02) == pytest.approx(LATE - 0.02)


def test_no_two_follow_each_other(engine: Engine) -> None:
    engine.flood()
    engine.admit("first", 20, client="a")
    assert launched_keys(engine.launch(BEGIN)) == ["first"]
    engine.admit("second", 20, client="b")
    engine.end("first", BEGIN + 0.01)
    assert len(launched_keys(engine.launch(BEGIN + 0.01))) > 1


def test_on_a_cpu_interactive_work_runs_at_once_beside_batch_work() -> None:
    engine = Engine(takes_turns=True)
    engine.bulk()
    first = engine.launch(BEGIN)
    assert first is not None
    assert first.yields
    for number in range(3):
        engine.admit(f"asked{number}", BUDGET // 2, client="other")
        beside = engine.launch(BEGIN + 0.01)
        assert launched_keys(beside) == [f"asked{number}"], "however large, and one after the other"
        assert beside is not None
        assert (beside.yields, beside.timed) == (False, False)
        assert engine.launch(BEGIN + 0.01) is None, "two are in flight"
        engine.end(f"asked{number}", BEGIN + 0.02)


def test_batch_work_leaves_the_place_beside_it_while_others_ask() -> None:
    engine = Engine(takes_turns=True)
    engine.bulk()
    engine.admit("asked", 20, client="other")
    first, second = engine.launch(BEGIN), engine.launch(BEGIN)
    assert {launched_keys(each)[0] for each in (first, second)} == {"asked", "bulk0"}
    engine.end("asked", BEGIN + 0.01)
    assert engine.former.forms_after(BEGIN + LATE + 0.001) == math.inf
    assert engine.former.forms_after(BEGIN + INTERACTIVE_SECONDS) == 0.0


def test_on_a_gpu_all_priorities_share_a_batch() -> None:
    engine = Engine()
    engine.bulk(2)
    engine.admit("asked", 20, client="other")
    formed = engine.launch(BEGIN)
    assert set(launched_keys(formed)) == {"asked", "bulk0", "bulk1"}
    assert formed is not None
    assert not formed.yields
