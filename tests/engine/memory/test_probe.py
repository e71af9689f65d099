"""Probes of a device's memory, the shapes that they run, and the cost model that comes of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import service.host_memory as host
from service.core.arrays import Logits, TokenIds
from service.core.errors import ModelError
from service.engine.device.watch import DeviceHealth
from service.engine.memory.probe import HostProbe, MemoryLimit, PolledProbe, probe_for
from service.engine.memory.profiler import measure_peaks, profile_memory, shapes
from tests.support.memory_probes import BYTES_PER_TOKEN, REST_BYTES, Device, EncoderOn
from tests.support.service import wait_until

MIB = 1 << 20


def _touch(mebibytes: int) -> None:
    np.ones(mebibytes * MIB, dtype=np.uint8).sum()


def test_peak_bytes_is_the_peak_of_the_work() -> None:
    probe = HostProbe(MemoryLimit(1.0))
    peaks = [probe.peak_bytes(lambda size=size: _touch(size)) / MIB for size in (32, 96, 32)]  # type: ignore[misc]
    assert peaks == pytest.approx([32, 96, 32], abs=probe.accuracy.noise_bytes / MIB)


def test_a_fraction_of_the_free_memory_is_available() -> None:
    all_of_it = HostProbe(MemoryLimit(1.0)).available_bytes()
    assert HostProbe(MemoryLimit(0.5)).available_bytes() == pytest.approx(all_of_it / 2, rel=0.2)


def test_the_limit_counts_memory_at_rest() -> None:
    probe = HostProbe(MemoryLimit(1.0, limit_bytes=host.resident_bytes() + 100 * MIB))
    probe.rebaseline()
    assert probe.available_bytes() == pytest.approx(100 * MIB, abs=40 * MIB)
    assert HostProbe(MemoryLimit(1.0, limit_bytes=1)).available_bytes() == 0


def test_the_probe_of_a_cpu_is_polled_and_says_nothing_of_the_device() -> None:
    health = DeviceHealth()
    probe = probe_for(torch.device("cpu"), MemoryLimit(0.9), health)
    assert isinstance(probe, PolledProbe)
    assert probe.accuracy == HostProbe.accuracy
    assert probe.available_bytes() == pytest.approx(HostProbe(MemoryLimit(0.9)).available_bytes(), rel=0.2)
    assert (health.answers, health.failure) == (None, None)


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


def test_shapes_are_few_long_many_short_and_mixtures() -> None:
    assert shapes(512, 2_048) == [
        [16],
        [128],
        [16] * 16,
        [512],
        [16] * 32,
        [128] * 4,
        [512] * 4,
    ]


@given(st.integers(1, 1_000), st.integers(0, 70_000))
def test_shapes_ascend_to_nearly_the_most_tokens(longest: int, more: int) -> None:
    most = longest + more
    batches = shapes(longest, most)
    assert all(0 < sum(lengths) <= most and max(lengths) <= longest for lengths in batches)
    assert sum(batches[-1]) > most - longest
    assert [sum(lengths) for lengths in batches] == sorted(map(sum, batches))


def test_the_cost_model_of_a_device_is_found() -> None:
    device = Device(10_000_000)
    cost_model = profile_memory(EncoderOn(device), device, 512, 4_096)
    assert cost_model.bytes_per_token == pytest.approx(BYTES_PER_TOKEN, rel=0.01)
    assert device.cache_releases == 1


def test_shapes_that_do_not_fit_are_left_out() -> None:
    device = Device(REST_BYTES + 600 * BYTES_PER_TOKEN)
    points = measure_peaks(EncoderOn(device), device, 512, 4_096)
    assert max(point.shape.tokens for point in points) == 512
    assert all(point.peak_bytes == point.shape.tokens * BYTES_PER_TOKEN for point in points)


def test_a_device_that_fits_no_shape_is_an_error() -> None:
    device = Device(REST_BYTES)
    with pytest.raises(ModelError, match="does not hold the smallest batch"):
        measure_peaks(EncoderOn(device), device, 512, 1_024)


def test_a_failure_that_is_not_out_of_memory_is_raised() -> None:
    class Broken(EncoderOn):
        def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
            raise ValueError("a bug")

    with pytest.raises(ValueError, match="a bug"):
        measure_peaks(Broken(Device(1)), Device(10), 16, 16)
