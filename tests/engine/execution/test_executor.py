"""Order on the compute thread: batches may overlap, everything else is alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial

import pytest

from service.engine.execution.executor import DeviceExecutor

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


def test_work_s_own_failure_is_its_future_s(compute: DeviceExecutor) -> None:
    with pytest.raises(ZeroDivisionError):
        compute.submit(lambda: 1 // 0).result(LONG_SECONDS)
    assert compute.submit(lambda: 2).result(LONG_SECONDS) == 2
