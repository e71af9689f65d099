from __future__ import annotations

import os
import subprocess
import sys

import httpx
import pytest

from loadtest.telemetry.process_usage import descendants, usage
from loadtest.telemetry.sampler import COUNTERS, GAUGES, REFUSALS, MetricsSample, rates, take_sample
from service.metrics import EngineMetrics
from service.signals.catalog import GPU_UTILIZATION


def test_the_metrics_that_are_watched_are_those_of_the_service() -> None:
    """Names are data on this side; this keeps them true."""
    known = {each._name for each in vars(EngineMetrics()).values() if hasattr(each, "_name")}
    ours = {name.removesuffix("_total") for name in (*GAUGES.values(), *COUNTERS.values(), REFUSALS)}
    assert {name for name in ours if "_gpu_" not in name} <= known
    assert GPU_UTILIZATION


def test_a_service_without_metrics_shows_only_its_processes() -> None:
    with httpx.Client() as client:
        assert take_sample(client, "http://127.0.0.1:9", None, 1.0) == MetricsSample(1.0, {}, {})
        assert take_sample(client, "http://127.0.0.1:9", os.getpid(), 1.0).values["memory_bytes"] > 1e6


def test_a_counter_that_was_set_back_is_a_gap() -> None:
    moments = [MetricsSample(at, {"tokens": value}) for at, value in ((0, 0), (1, 10), (3, 50), (4, 5), (5, 6))]
    assert rates(moments, "tokens") == [(1, 10), (3, 20), (5, 1)]
    assert rates(moments, "batches") == []


def test_descendants_are_counted_with_their_files() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert child.pid in descendants(os.getpid())
        found = usage(child.pid)
        child.kill()
    assert found.processes == 1
    assert found.open_files >= 1
    assert usage(child.pid).processes == 0


@pytest.mark.parametrize("name", ["memory_bytes", "open_files", "cpu_seconds"])
def test_own_usage_is_known(name: str) -> None:
    assert getattr(usage(os.getpid()), name) > 0
