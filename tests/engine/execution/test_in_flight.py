"""Batches in flight: which run, when the device began each, and in which order they are delivered."""

from __future__ import annotations

import pytest

from service.core.types import Batch, Sequence
from service.engine.execution.in_flight import InFlightBatches
from service.engine.execution.runner import BatchHandle

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


def test_one_that_no_thread_has_begun_has_no_begin(device: Device) -> None:
    device.launch()
    assert device.head_begun() is None


@pytest.mark.parametrize("is_delivered", [True, False])
def test_one_that_was_launched_early_begins_when_the_one_before_it_ends(device: Device, is_delivered: bool) -> None:
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
