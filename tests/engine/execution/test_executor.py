"""Order on the compute thread and of the batches in flight: batches may overlap, everything else is alone."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from functools import partial

import pytest

from service.core.types import Batch, Sequence
from service.engine.execution.executor import DeviceExecutor
from service.engine.execution.in_flight import InFlightBatches
from service.engine.execution.runner import BatchHandle
from service.process import NICENESS

LONG_SECONDS = 20.0


@pytest.fixture
def compute() -> Iterator[DeviceExecutor]:
    with DeviceExecutor() as executor:
        yield executor


def test_batches_run_one_after_the_other_on_the_compute_thread(compute: DeviceExecutor) -> None:
    seen: list[tuple[int, str]] = []
    for number in range(3):
        compute.submit_batch(lambda number=number: seen.append((number, threading.current_thread().name)))  # type: ignore[misc]
    compute.submit(int).result(LONG_SECONDS)
    assert seen == [(0, "compute_0"), (1, "compute_0"), (2, "compute_0")]


def test_batches_overlap_where_they_may(compute: DeviceExecutor) -> None:
    compute.overlap(2)
    both = threading.Barrier(2)
    met: list[int] = []
    for _ in range(2):
        compute.submit_batch(lambda: met.append(both.wait(LONG_SECONDS)))
    compute.submit(int).result(LONG_SECONDS)
    assert sorted(met) == [0, 1]


def test_other_work_runs_alone_between_the_batches_around_it(compute: DeviceExecutor) -> None:
    compute.overlap(2)
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


def test_batches_keep_their_order_though_only_some_wait_for_work(compute: DeviceExecutor) -> None:
    compute.overlap(1)
    release, seen = threading.Event(), list[int]()
    compute.submit_in_order(release.wait, LONG_SECONDS)
    for number in range(3):
        compute.submit_batch(partial(seen.append, number))
    release.set()
    for number in range(3, 50):
        compute.submit_batch(partial(seen.append, number))
    compute.submit(int).result(LONG_SECONDS)
    assert seen == list(range(50))


def _niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="niceness by thread")
@pytest.mark.parametrize("is_in_order", [False, True])
def test_batches_that_yield_do_so_where_others_run_beside_them(compute: DeviceExecutor, is_in_order: bool) -> None:
    compute.overlap(2, concurrent=True)
    release, seen = threading.Event(), list[tuple[bool, int]]()
    if is_in_order:
        compute.submit_in_order(release.wait, LONG_SECONDS)
    for yields in (True, False):
        compute.submit_batch(lambda yields=yields: seen.append((yields, _niceness())), yields=yields)  # type: ignore[misc]
    release.set()
    compute.submit(int).result(LONG_SECONDS)
    own = _niceness()
    assert sorted(seen) == [(False, own), (True, min(own + NICENESS, 19))]


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
