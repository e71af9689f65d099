"""The probe of a CPU, on real resident memory of this process; the memory of CUDA graphs, on snapshots."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import service.host_memory as host
from service.engine.device.health import DeviceHealth
from service.engine.memory.polled_probe import PolledProbe, probe_for
from service.engine.memory.probe import HostProbe, MemoryLimit, graph_bytes

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


def test_graph_bytes_are_the_free_bytes_of_pools_of_graphs() -> None:
    def segment(device: int, pool: tuple[int, int], total: int, allocated: int) -> dict[str, object]:
        return {"device": device, "segment_pool_id": pool, "total_size": total, "allocated_size": allocated}

    ordinary, graph, elsewhere = segment(0, (0, 0), 90, 10), segment(0, (0, 3), 50, 8), segment(1, (0, 4), 70, 7)
    assert graph_bytes([], 0) == 0
    assert graph_bytes([ordinary], 0) == 0
    assert graph_bytes([ordinary, graph, elsewhere, segment(0, (7, 0), 5, 0)], 0) == 42 + 5
