"""Metrics: their names, what each event moves, and the sum over processes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from prometheus_client import Metric

from service.core.gpu_reading import GpuReading
from service.core.memory.budget import MemoryReport
from service.core.memory.cost_model import MemoryCostModel
from service.core.types import Load, Phase
from service.metrics import EngineMetrics, GpuMetrics, GraphMetrics, WorkerMetrics, forget_process
from service.settings import METRICS_VARIABLE

NAME = re.compile(r"gleaner_[a-z]+(_[a-z]+)*")
SIGNALS = {"backlog_seconds", "work_ratio", "queue_documents", "queue_sequences", "queue_tokens"}
"""What autoscaling looks at; the policies name them."""


def collected(metrics: object) -> list[Metric]:
    """Every metric that an object holds."""
    return [metric for each in vars(metrics).values() if each is not None for metric in each.collect()]


def value(metric: Any, **labels: str) -> float:
    samples = next(iter(metric.collect())).samples
    return float(sum(each.value for each in samples if each.labels == labels and not each.name.endswith("_created")))


def test_names_are_ours_unique_and_helpful() -> None:
    kinds = (WorkerMetrics, EngineMetrics, GpuMetrics, GraphMetrics)
    found = [metric for kind in kinds for metric in collected(kind())]
    names = [metric.name for metric in found]
    assert len(set(names)) == len(names)
    assert all(NAME.fullmatch(name) for name in names)
    assert all(metric.documentation.endswith(".") for metric in found)
    assert {f"gleaner_{name}" for name in SIGNALS} | {"gleaner_queue_oldest_age_seconds"} <= set(names)


def test_exactly_one_phase_is_shown() -> None:
    metrics = EngineMetrics()
    for phase in Phase:
        metrics.show_phase(phase)
        assert [each for each in Phase if value(metrics.phase, phase=each.value)] == [phase]


def test_the_queue_is_shown_as_it_is() -> None:
    metrics = EngineMetrics()
    metrics.show_load(Load(1, 2, 3, 4, 5.0), 6.0, 7.0, 8.0)
    shown = ("queue_documents", "queue_sequences", "queue_tokens", "queue_oldest_age_seconds")
    assert [value(getattr(metrics, name)) for name in shown] == [1, 2, 3, 5]
    assert [value(getattr(metrics, name)) for name in ("backlog_seconds", "work_ratio", "capacity")] == [6, 7, 8]


def test_batches_add_up() -> None:
    metrics = EngineMetrics()
    metrics.count_batch(100, 0.5, 1)
    metrics.count_batch(50, 0.25, 2, memory_splits=3)
    moved = (metrics.batches, metrics.tokens, metrics.busy_seconds, metrics.splits, metrics.memory_splits)
    assert [value(each) for each in moved] == [2, 150, 0.75, 3, 3]


def test_without_a_gpu_there_are_no_metrics_of_one() -> None:
    assert EngineMetrics().gpu is None


def test_a_gpu_s_metrics_are_there_once_it_tells_something() -> None:
    metrics = EngineMetrics()
    metrics.show_gpu(GpuReading(utilization_ratio=0.5, throttled=frozenset({"power_cap"}), xids=(31,)))
    metrics.show_gpu(GpuReading(temperature_celsius=60.0, clocks_hertz={"sm": 1e9}, xids=(31,)))
    assert metrics.gpu is not None
    shown = (metrics.gpu.utilization_ratio, metrics.gpu.temperature_celsius, metrics.gpu.clock_hertz.labels("sm"))
    assert [value(each) for each in shown] == [0.5, 60, 1e9]
    assert value(metrics.gpu.throttled.labels("power_cap")) == 0
    assert value(metrics.gpu.xid_errors.labels("31")) == 2


def test_what_the_guard_sees_is_shown() -> None:
    metrics = EngineMetrics()
    function = MemoryCostModel(10.0, 30.0, 0.0, 0.0, 0.0, 0.2)
    report = MemoryReport(
        room_bytes=5, floor_bytes=1, available_bytes=6, rest_bytes=7, shrinks=2, functions={"r": function}
    )
    metrics.show_memory(report, {"r": 512})
    shown = ("memory_room_bytes", "memory_available_bytes", "memory_rest_bytes", "memory_shrinks")
    assert [value(getattr(metrics, name)) for name in shown] == [5, 6, 7, 2]
    by_model = (metrics.memory_fit_error_ratio, metrics.memory_bytes_per_token, metrics.budget_tokens)
    assert [value(each.labels("r")) for each in by_model] == [0.2, 30, 512]


def process(folder: Path, program: str) -> tuple[int, str]:
    """A process of the service that runs this; its id and what it printed."""
    prelude = "from service.metrics import *\nfrom service.core.types import Load, Phase\n"
    environment = {**os.environ, METRICS_VARIABLE: str(folder)}
    command = [sys.executable, "-c", prelude + program]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as child:
        printed, _ = child.communicate(timeout=60)
    assert child.returncode == 0
    return child.pid, printed


SHOW = "print(exposition().decode())"


def test_processes_add_up_counters_and_show_the_latest_gauge(tmp_path: Path) -> None:
    process(tmp_path, "EngineMetrics().starts.inc(); EngineMetrics().count_batch(10, 0.5, 0)")
    engine = "m = EngineMetrics(); m.starts.inc(); m.count_batch(5, 0.5, 0); m.show_load(Load(tokens=9), 1, 2, 3)"
    engine += "; m.budget_tokens.labels('old').set(512)"
    dead, _ = process(tmp_path, engine)
    process(tmp_path, "WorkerMetrics().documents.labels('ok').inc(4)")
    _, shown = process(tmp_path, "WorkerMetrics().documents.labels('ok').inc()\n" + SHOW)
    lines = shown.splitlines()
    for expected in (
        "gleaner_engine_starts_total 2.0",
        "gleaner_tokens_total 15.0",
        "gleaner_queue_tokens 9.0",
        'gleaner_documents_total{outcome="ok"} 5.0',
        'gleaner_budget_tokens{model="old"} 512.0',
    ):
        assert expected in lines
    forget_process(dead, tmp_path)
    _, shown = process(tmp_path, SHOW)
    assert "gleaner_tokens_total 15.0" in shown.splitlines()
    assert 'model="old"' not in shown, "the next engine may hold other models"


def test_a_process_that_left_nothing_is_forgotten_without_complaint(tmp_path: Path) -> None:
    forget_process(12345, tmp_path)


def test_there_is_nothing_to_show_before_anybody_counted(tmp_path: Path) -> None:
    assert process(tmp_path, SHOW)[1].strip() == ""
