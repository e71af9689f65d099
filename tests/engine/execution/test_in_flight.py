"""When a batch may be launched: at once on a free device, else shortly before the one that runs is expected to end."""

from __future__ import annotations

import math

import pytest

from service.core.scheduling.batch_forecast import LEAD_SHARE, BatchForecast
from service.core.types import Batch, Sequence
from service.engine.execution.in_flight import LIGHT_SECONDS, OPEN_SECONDS, BatchPlace, InFlightBatches
from service.engine.execution.runner import BatchHandle

TOKENS = 1_000
TAKES = 0.2
LEAD = LEAD_SHARE * TAKES


class Device:
    """Batches of one model that take so many seconds each, one after the other."""

    def __init__(self, takes: float = TAKES) -> None:
        self._takes = takes
        self.forecast = BatchForecast()
        self.batches = InFlightBatches(self.forecast)
        self._handles: list[BatchHandle] = []

    def launch(self, now: float, model: str = "m", place: BatchPlace = BatchPlace.ORDINARY, keys: str = "k") -> None:
        handle = BatchHandle()
        handle.begun_seconds = now
        self._handles.append(handle)
        sequences = tuple(Sequence(key, index, TOKENS // len(keys)) for index, key in enumerate(keys))
        self.batches.add(Batch(model, sequences), handle, TOKENS, now, place)

    def end(self, now: float, *, number: int = 0, deliver: bool = True) -> None:
        handle = self._handles.pop(number)
        handle.ended_seconds = now
        handle.complete([])
        if deliver:
            self.deliver()

    def deliver(self) -> None:
        for launched in self.batches.completed():
            self.forecast.learn(launched.batch.model, launched.batch.tokens, self._takes)

    def accepts_after(self, now: float, *, full: bool = True) -> float:
        return self.batches.accepts_after(lambda: full, now)


def experienced(takes: float) -> Device:
    """One that has computed a good many batches."""
    found = Device(takes)
    for number in range(200):
        found.launch(number * takes)
        found.end((number + 1) * takes)
    return found


@pytest.fixture
def device() -> Device:
    return experienced(TAKES)


@pytest.fixture
def fast() -> Device:
    return experienced(LIGHT_SECONDS)


def test_a_free_device_gets_a_batch_at_once(device: Device) -> None:
    assert device.accepts_after(50.0, full=False) == 0.0


def test_where_several_come_at_a_time_a_device_that_is_faster_than_its_host_leaves_a_batch_open(fast: Device) -> None:
    fast.launch(50.0, keys="ab")
    fast.end(50.001)
    assert fast.accepts_after(50.001, full=False) == pytest.approx(OPEN_SECONDS - 0.001)
    assert fast.batches.open_for(50.001) == pytest.approx(OPEN_SECONDS - 0.001)
    assert fast.accepts_after(50.001, full=True) == 0.0
    assert fast.accepts_after(50.0 + OPEN_SECONDS, full=False) == 0.0


def test_nobody_waits_behind_a_lone_document_or_on_a_device_that_is_no_faster(device: Device, fast: Device) -> None:
    fast.launch(50.0, keys="aaa")
    fast.end(50.001)
    assert fast.accepts_after(50.001, full=False) == 0.0
    device.launch(50.0, keys="ab")
    device.end(50.001)
    assert device.accepts_after(50.001, full=False) == 0.0
    fast.launch(60.0, model="new", keys="ab")
    fast.end(60.001)
    assert fast.accepts_after(60.001, full=False) == 0.0


def test_a_full_batch_is_formed_as_late_as_the_device_can_wait_for_it(device: Device) -> None:
    device.launch(50.0)
    assert device.accepts_after(50.0) == pytest.approx(TAKES - LEAD, rel=0.02)
    assert device.accepts_after(50.1) == pytest.approx(TAKES - LEAD - 0.1, rel=0.04)
    assert device.accepts_after(50.0 + TAKES - LEAD + 0.01) == 0.0


def test_a_batch_that_is_not_full_waits_for_the_device_to_be_free(device: Device) -> None:
    device.launch(50.0)
    assert device.accepts_after(50.0 + TAKES - LEAD + 0.01, full=False) == math.inf


def test_one_that_was_launched_early_begins_when_the_one_before_it_ends(device: Device) -> None:
    device.launch(50.0)
    device.launch(50.0)
    assert device.accepts_after(50.1) == math.inf
    device.end(50.3)
    assert device.accepts_after(50.3) == pytest.approx(TAKES - LEAD, rel=0.02)


def test_one_that_follows_a_batch_that_is_not_delivered_yet_has_just_begun(device: Device) -> None:
    """The next one is launched before the last one is delivered; it was formed a whole batch too early."""
    device.launch(50.0)
    device.launch(50.0)
    device.end(50.2, deliver=False)
    assert device.accepts_after(50.2) == pytest.approx(TAKES - LEAD, rel=0.02)


def test_a_small_batch_that_ends_beside_the_one_before_it_does_not_make_that_one_new(device: Device) -> None:
    """On a CPU two run side by side, and the second one may end first."""
    device.launch(50.0)
    device.launch(50.0)
    device.end(50.15, number=1, deliver=False)
    assert device.accepts_after(50.16) == 0.0


def test_behind_a_model_that_never_ran_a_full_batch_is_formed_at_once(device: Device) -> None:
    device.launch(50.0, model="new")
    assert device.accepts_after(50.0) == 0.0


def test_a_batch_that_takes_longer_than_expected_has_the_next_one_behind_it(device: Device) -> None:
    device.launch(50.0)
    assert device.accepts_after(60.0) == 0.0
    device.launch(60.0)
    assert device.accepts_after(60.0) == math.inf


def test_one_behind_a_batch_that_is_overdue_is_still_to_run(device: Device) -> None:
    device.launch(50.0, place=BatchPlace.BETWEEN)
    device.launch(50.0)
    assert device.accepts_after(60.0) == pytest.approx(TAKES - LEAD, rel=0.02)


def test_who_comes_now_waits_for_what_is_left_of_the_running_batch(device: Device) -> None:
    assert device.batches.seconds_waited_for(50.0) == 0.0
    device.launch(50.0)
    assert device.batches.seconds_waited_for(50.05) == pytest.approx(TAKES - 0.05, rel=0.02)
    assert device.batches.seconds_waited_for(60.0) == pytest.approx(TAKES, rel=0.02), "overdue: who knows"


def test_what_ran_beside_a_batch_is_delivered_before_it_and_others_in_order(device: Device) -> None:
    device.launch(50.0)
    device.launch(50.0)
    device.launch(50.0, place=BatchPlace.BESIDE)
    device.end(50.1, number=2, deliver=False)
    assert [launched.place for launched in device.batches.completed()] == [BatchPlace.BESIDE]
    device.end(50.15, number=1, deliver=False)
    assert list(device.batches.completed()) == []
    device.end(50.2, number=0, deliver=False)
    assert len(list(device.batches.completed())) == 2
