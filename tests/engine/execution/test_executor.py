"""Order on the compute thread and of the batches in flight: batches may overlap, everything else is alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial

import pytest

from service.core.types import Batch, Sequence
from service.engine.execution.executor import DeviceExecutor
from service.engine.execution.in_flight import InFlightBatches
from service.engine.execution.runner import BatchHandle

LONG_SECONDS = 20.0


@pytest.fixture
def compute() -> Iterator[DeviceExecutor]:
    with DeviceExecutor() as executor:
        yield executor


def test_two_batches_overlap(compute: DeviceExecutor) -> None:
    both = threading.Barrier(2)
    met: list[int] = []
    for _ in range(2):
        compute.submit_batch(lambda: met.append(both.wait(LONG_SECONDS)))
    compute.submit(int).result(LONG_SECONDS)
    assert sorted(met) == [0, 1]


def test_other_work_runs_alone_between_the_batches_around_it(compute: DeviceExecutor) -> None:
    release = threading.Event()
    seen: list[str] = []

    def slow_batch() -> None:
        release.wait(LONG_SECONDS)
        seen.append("batch")

    compute.submit_batch(slow_batch)
    alone = compute.submit(seen.append, "alone")
    compute.submit_batch(lambda: seen.append("next batch"))
    assert not alone.done()
    release.set()
    compute.submit(int).result(LONG_SECONDS)
    assert seen == ["batch", "alone", "next batch"]


def test_batches_keep_their_order_though_only_some_wait_for_work() -> None:
    release, seen = threading.Event(), list[int]()
    with DeviceExecutor(batches=1) as compute:
        compute.submit_in_order(release.wait, LONG_SECONDS)
        for number in range(3):
            compute.submit_batch(partial(seen.append, number))
        release.set()
        for number in range(3, 50):
            compute.submit_batch(partial(seen.append, number))
        compute.submit(int).result(LONG_SECONDS)
    assert seen == list(range(50))


def _computing(compute: DeviceExecutor, seen: list[str]) -> None:
    """Launch two batches of batch work and, while the first computes a unit, interactive ones of several sizes."""
    begun, all_wait = threading.Event(), threading.Event()
    turns = compute.turns

    def batch(name: str, *left: int) -> None:
        for tokens in left:
            with turns.turn(tokens):
                seen.append(f"{name}{tokens}")
                if name == "first":
                    begun.set()
                    assert all_wait.wait(LONG_SECONDS)

    def launch(name: str, *left: int, yields: bool) -> None:
        compute.submit_batch(partial(batch, name, *left), yields=yields)

    launch("first", 9, 8, yields=True)
    assert begun.wait(LONG_SECONDS)
    launched = [("bulk", (5,), True), ("long", (80, 70), False), ("short", (3,), False), ("same", (80,), False)]
    for number, (name, left, yields) in enumerate(launched, 1):
        launch(name, *left, yields=yields)
        while turns.waiting < number:
            threading.Event().wait(0.001)
    all_wait.set()
    compute.submit(int).result(LONG_SECONDS)


def test_between_two_units_the_most_urgent_batch_goes_on() -> None:
    seen: list[str] = []
    with DeviceExecutor(batches=5) as compute:
        _computing(compute, seen)
    assert seen == ["first9", "short3", "long80", "long70", "same80", "bulk5", "first8"]


def test_a_unit_that_fails_gives_its_turn_up(compute: DeviceExecutor) -> None:
    with pytest.raises(ZeroDivisionError), compute.turns.turn(1):
        _ = 1 // 0
    with compute.turns.turn(1):
        assert compute.turns.waiting == 0


def test_work_s_own_failure_is_its_future_s(compute: DeviceExecutor) -> None:
    with pytest.raises(ZeroDivisionError):
        compute.submit(lambda: 1 // 0).result(LONG_SECONDS)
    assert compute.submit(lambda: 2).result(LONG_SECONDS) == 2


TOKENS = 1_000


class Device:
    """Batches that begin as they are launched, unless it is said when."""

    def __init__(self) -> None:
        self.batches = InFlightBatches()
        self.handles: list[BatchHandle] = []

    def launch(self, begun: float = 0.0) -> None:
        handle = BatchHandle()
        handle.begun_seconds = begun
        self.handles.append(handle)
        self.batches.add(Batch("m", (Sequence("k", 0, TOKENS),)), handle, TOKENS)

    def end(self, number: int, now: float) -> None:
        handle = self.handles[number]
        handle.ended_seconds = now
        handle.complete([])

    def head_begun(self) -> float | None:
        return self.batches.begun_seconds(self.batches.running[0])


@pytest.fixture
def device() -> Device:
    return Device()


def test_a_batch_is_in_flight_until_it_is_delivered(device: Device) -> None:
    device.launch(50.0)
    assert device.batches.progress is not None
    device.end(0, 50.2)
    assert len(device.batches) == 1
    assert device.batches.running == []
    assert [launched.number for launched in device.batches.completed()] == [1]
    assert len(device.batches) == 0


def test_a_batch_that_no_thread_has_begun_has_no_begin(device: Device) -> None:
    device.launch()
    assert device.head_begun() is None


@pytest.mark.parametrize("is_delivered", [True, False])
def test_a_batch_launched_early_begins_when_the_one_before_it_ends(device: Device, is_delivered: bool) -> None:
    device.launch(50.0)
    device.launch(50.1)
    assert device.head_begun() == 50.0
    device.end(0, 50.3)
    if is_delivered:
        assert len(list(device.batches.completed())) == 1
    assert device.head_begun() == 50.3


def test_a_small_batch_that_ends_first_is_delivered_first(device: Device) -> None:
    """On a CPU two run at once."""
    device.launch(50.0)
    device.launch(50.1)
    device.end(1, 50.15)
    assert device.head_begun() == 50.0
    assert [launched.number for launched in device.batches.completed()] == [2]
    assert device.head_begun() == 50.0
