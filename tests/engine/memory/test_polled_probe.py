"""A device that is read by a thread of its own: what that thread finds, and that nobody else waits for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue

import pytest
import torch

from service.engine.device.health import DeviceHealth
from service.engine.memory.polled_probe import PolledProbe
from tests.support.memory_probes import REST_BYTES, Device
from tests.support.service import wait_until

LIMIT_SECONDS = 30.0


class DrivenDevice(Device):
    """A device whose driver answers each reading with what the test gives it; without that it hangs."""

    def __init__(self) -> None:
        super().__init__(REST_BYTES + 1_000)
        self.answers: SimpleQueue[int | Exception] = SimpleQueue()
        self.readers: set[str] = set()
        self.answers.put(1_000)

    def available_bytes(self) -> int:
        self.readers.add(threading.current_thread().name)
        answer = self.answers.get()
        if isinstance(answer, Exception):
            raise answer
        return answer


def _polled(device: DrivenDevice) -> tuple[PolledProbe, DeviceHealth]:
    health = DeviceHealth()
    return PolledProbe(device, health, pause=lambda _: None), health


def test_the_last_reading_is_there_without_asking() -> None:
    device = DrivenDevice()
    probe, health = _polled(device)
    assert (probe.available_bytes(), health.answers) == (1_000, None)
    device.answers.put(700)
    wait_until(lambda: health.answers == 1)
    device.readers.clear()
    assert [probe.available_bytes() for _ in range(3)] == [700] * 3
    assert device.readers <= {"memory"}


def test_a_driver_that_hangs_holds_up_its_reader_only() -> None:
    device = DrivenDevice()
    probe, health = _polled(device)
    done: list[int] = []
    reader = threading.Thread(target=lambda: done.append(probe.available_bytes()))
    reader.start()
    reader.join(LIMIT_SECONDS)
    assert (done, health.answers, health.failure) == ([1_000], None, None)


def test_an_error_of_a_reading_is_told_to_the_health_of_the_device() -> None:
    device = DrivenDevice()
    probe, health = _polled(device)
    device.answers.put(torch.AcceleratorError("CUDA error: unspecified launch failure"))
    wait_until(lambda: health.failure is not None)
    assert health.failure == "AcceleratorError: CUDA error: unspecified launch failure"
    assert probe.available_bytes() == 1_000


@pytest.mark.parametrize(
    "work",
    [PolledProbe.rebaseline, PolledProbe.release_cache, lambda probe: probe.cap(5)],
    ids=["rest", "cache", "cap"],
)
def test_an_error_of_work_that_nobody_waits_for_is_told_too(
    work: Callable[[PolledProbe], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise torch.AcceleratorError("CUDA error: device-side assert triggered")

    device = DrivenDevice()
    for name in ("rebaseline", "release_cache", "cap"):
        monkeypatch.setattr(device, name, fail)
    probe, health = _polled(device)
    with pytest.raises(torch.AcceleratorError):
        work(probe)
    assert health.failure is not None


def test_want_of_memory_is_no_fault_of_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    device = DrivenDevice()
    monkeypatch.setattr(device, "rebaseline", full)
    probe, health = _polled(device)
    with pytest.raises(torch.OutOfMemoryError):
        probe.rebaseline()
    assert health.failure is None


def test_a_host_s_memory_that_cannot_be_read_for_a_moment_is_as_it_was(caplog: pytest.LogCaptureFixture) -> None:
    device, read = DrivenDevice(), SimpleQueue[float]()
    probe = PolledProbe(device, None, pause=read.put)
    for answer in (OSError("too many open files"), OSError("still too many"), 500):
        device.answers.put(answer)
        read.get(timeout=LIMIT_SECONDS)
        assert probe.available_bytes() == (500 if answer == 500 else 1_000)
    assert [record.getMessage() for record in caplog.records] == ["the host's memory cannot be read"]


def test_a_host_s_work_that_fails_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OSError("no such file")

    device = DrivenDevice()
    monkeypatch.setattr(device, "rebaseline", fail)
    with pytest.raises(OSError, match="no such file"):
        PolledProbe(device, None).rebaseline()
