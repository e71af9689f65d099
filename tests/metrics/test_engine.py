"""The engine's metrics: which of them each event moves."""

from __future__ import annotations

import pytest

from service.core.gpu_reading import GpuReading
from service.core.memory.budget import MemoryReport
from service.core.memory.cost_model import MemoryCostModel
from service.core.types import Load, Phase
from service.core.worker_load import IDLE, Stage, WorkerLoad
from service.metrics.engine import BatchCounts, EngineMetrics
from service.signals.catalog import STAGES
from tests.support.metric_values import value


def test_exactly_one_phase_is_set() -> None:
    metrics = EngineMetrics()
    for phase in Phase:
        metrics.set_phase(phase)
        assert [each for each in Phase if value(metrics.phase, phase=each.value)] == [phase]


def test_the_queue_gauges_show_the_load() -> None:
    queue = EngineMetrics().queue
    queue.update(Load(1, 2, 3, 4, 5.0), IDLE, 6.0, 7.0, 8.0)
    shown = (queue.documents, queue.sequences, queue.tokens, queue.oldest_age_seconds)
    assert [value(each) for each in shown] == [1, 2, 3, 5]
    assert [value(each) for each in (queue.backlog_seconds, queue.work_ratio, queue.capacity)] == [6, 7, 8]


@pytest.mark.parametrize(
    ("compute", "worker_load", "most"),
    [
        (0.5, WorkerLoad(0.1, 0.2, 0.3), (0.5, 6.0)),
        (0.026, WorkerLoad(0.1, 3.0, 1.5), (3.0, 6.0)),
        (0.026, WorkerLoad(0.9, 0.2, 60.0), (0.9, 60.0)),
    ],
)
def test_the_work_ratio_is_that_of_the_stage_that_is_asked_for_most(
    compute: float, worker_load: WorkerLoad, most: tuple[float, float]
) -> None:
    queue = EngineMetrics().queue
    queue.update(Load(), worker_load, 6.0, compute, 8.0)
    assert (value(queue.work_ratio), value(queue.backlog_seconds)) == most
    stages = {stage.value: value(queue.stage_work_ratio, stage=stage.value) for stage in Stage}
    assert stages == {"compute": compute, "tokenize": worker_load.tokenize_ratio, "parse": worker_load.parse_ratio}
    assert stages.keys() == STAGES.keys()
    assert value(queue.parser_wait_seconds) == worker_load.wait_seconds


def test_batches_add_up() -> None:
    batches = EngineMetrics().batches
    batches.count(BatchCounts(1, 100, 0.5, 1))
    batches.count(BatchCounts(1, 50, 0.25, 2, memory_splits=3))
    moved = (batches.batches, batches.tokens, batches.busy_seconds, batches.splits, batches.memory_splits)
    assert [value(each) for each in moved] == [2, 150, 0.75, 3, 3]


def test_gpu_metrics_keep_what_a_later_reading_leaves_out() -> None:
    metrics = EngineMetrics()
    metrics.update_gpu(GpuReading(utilization_ratio=0.5, throttled=frozenset({"power_cap"}), xids=(31,)))
    metrics.update_gpu(GpuReading(temperature_celsius=60.0, clocks_hertz={"sm": 1e9}, xids=(31,)))
    assert metrics.gpu is not None
    shown = (metrics.gpu.utilization_ratio, metrics.gpu.temperature_celsius, metrics.gpu.clock_hertz.labels("sm"))
    assert [value(each) for each in shown] == [0.5, 60, 1e9]
    assert value(metrics.gpu.throttled.labels("power_cap")) == 0
    assert value(metrics.gpu.xid_errors.labels("31")) == 2


def test_the_memory_gauges_show_the_guard_s_report() -> None:
    memory = EngineMetrics().memory
    function = MemoryCostModel(10.0, 30.0, 0.0, 0.0, 0.0, 0.2)
    report = MemoryReport(
        room_bytes=5, floor_bytes=1, available_bytes=6, rest_bytes=7, shrinks=2, functions={"r": function}
    )
    for _ in range(2):
        memory.update(report, {("m", "r"): 512})
    shown = (memory.room_bytes, memory.available_bytes, memory.rest_bytes, memory.shrinks)
    assert [value(each) for each in shown] == [5, 6, 7, 2]
    by_model = (memory.fit_error_ratio, memory.bytes_per_token, memory.budget_tokens)
    assert [value(each, model="m", revision="r") for each in by_model] == [0.2, 30, 512]
