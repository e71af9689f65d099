"""The gauge of a CPU: real resident memory of this process."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from service.engine.memory import host as host_memory
from service.engine.memory.probe import HostProbe, MemoryLimit, gauge_of, kept_bytes

MIB = 1 << 20


def _touch(mebibytes: int) -> None:
    np.ones(mebibytes * MIB, dtype=np.uint8).sum()


def test_the_peak_of_what_is_run_is_measured() -> None:
    gauge = HostProbe(MemoryLimit(1.0))
    peaks = [gauge.peak_bytes(lambda size=size: _touch(size)) / MIB for size in (32, 96, 32)]  # type: ignore[misc]
    assert peaks == pytest.approx([32, 96, 32], abs=gauge.gauged.noise_bytes / MIB)


def test_a_share_of_what_is_there_is_allowed() -> None:
    all_of_it = HostProbe(MemoryLimit(1.0)).available_bytes()
    assert HostProbe(MemoryLimit(0.5)).available_bytes() == pytest.approx(all_of_it / 2, rel=0.2)


def test_the_limit_is_for_the_engine_as_a_whole() -> None:
    gauge = HostProbe(MemoryLimit(1.0, limit_bytes=host_memory.resident_bytes() + 100 * MIB))
    gauge.settle()
    assert gauge.available_bytes() == pytest.approx(100 * MIB, abs=40 * MIB)
    assert HostProbe(MemoryLimit(1.0, limit_bytes=1)).available_bytes() == 0


def test_a_cpu_can_be_measured_here() -> None:
    assert isinstance(gauge_of(torch.device("cpu"), MemoryLimit(0.9)), HostProbe)


def test_what_graphs_hold_for_their_next_replay_is_told_from_what_the_next_batch_may_take() -> None:
    def segment(device: int, pool: tuple[int, int], total: int, allocated: int) -> dict[str, object]:
        return {"device": device, "segment_pool_id": pool, "total_size": total, "allocated_size": allocated}

    ordinary, recorded, elsewhere = segment(0, (0, 0), 90, 10), segment(0, (0, 3), 50, 8), segment(1, (0, 4), 70, 7)
    assert kept_bytes([], 0) == 0
    assert kept_bytes([ordinary], 0) == 0
    assert kept_bytes([ordinary, recorded, elsewhere, segment(0, (7, 0), 5, 0)], 0) == 42 + 5
