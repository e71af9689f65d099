"""Metrics of the engine process: queue, batches, models, memory, GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.core.gpu_reading import THROTTLE_REASONS, GpuReading
from service.core.memory.budget import MemoryReport
from service.core.types import Load, Phase
from service.core.worker_load import Stage, WorkerLoad
from service.metrics.processes import ProcessMetrics
from service.metrics.prometheus import REFUSALS_TEXT, counter, gauge, gauge_by_model, histogram

_FILL_BUCKETS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)


class EngineMetrics:
    """Metrics of the engine process: its own, and those of its queue, batches, models, memory, process and GPU."""

    def __init__(self) -> None:
        self.queue = QueueMetrics()
        self.batches = BatchMetrics()
        self.models = ModelMetrics()
        self.memory = MemoryMetrics()
        self.process = ProcessMetrics("engine")
        self.gpu: GpuMetrics | None = None
        self.phase = gauge("gleaner_phase", "1 for the phase that the engine is in.", "phase")
        self.start_seconds = gauge("gleaner_start_seconds", "Seconds that each part of the start took.", "part")
        self.starts = counter("gleaner_engine_starts", "Engines started; above one, engines that died.")
        self.refusals = counter("gleaner_refusals", REFUSALS_TEXT, "code")
        self.bad_messages = counter("gleaner_bad_messages", "Messages to the engine that made no sense.")
        self.gpu_lost = gauge("gleaner_gpu_lost", "1 when the GPU is lost and the service ends for replacement.")

    def update_gpu(self, reading: GpuReading) -> None:
        """Update the GPU's metrics; the first reading creates them, so that a CPU-only service has none."""
        self.gpu = self.gpu or GpuMetrics()
        self.gpu.update(reading)

    def set_phase(self, phase: Phase) -> None:
        """Set the gauge of this phase to 1 and all others to 0."""
        for each in Phase:
            self.phase.labels(each.value).set(float(each is phase))


class QueueMetrics:
    """Metrics of the engine's queue, and of its load for autoscaling."""

    def __init__(self) -> None:
        self.documents = gauge("gleaner_queue_documents", "Documents that wait.")
        self.sequences = gauge("gleaner_queue_sequences", "Sequences that wait.")
        self.tokens = gauge("gleaner_queue_tokens", "Tokens that wait.")
        self.oldest_age_seconds = gauge("gleaner_queue_oldest_age_seconds", "Age of the oldest that waits.")
        self.backlog_seconds = gauge(
            "gleaner_backlog_seconds",
            "Seconds for what waits: tokens, with those recently refused, or files for the parsers, whichever is more.",
        )
        self.work_ratio = gauge("gleaner_work_ratio", "Asked-for work over the capacity, of the stage that has most.")
        self.stage_work_ratio = gauge(
            "gleaner_stage_work_ratio",
            "Asked-for work over the capacity: tokens of the device, seconds of workers and parsers.",
            "stage",
        )
        self.parser_wait_seconds = gauge(
            "gleaner_parser_wait_seconds", "What the parsers are expected to need for the files that wait for one."
        )
        self.capacity = gauge("gleaner_capacity_tokens_per_second", "Tokens per second of full batches, as measured.")

    def update(
        self, load: Load, worker_load: WorkerLoad, backlog_seconds: float, work_ratio: float, tokens_per_second: float
    ) -> None:
        """Set all gauges to the current load; backlog and work ratio are the device's."""
        ratios = {Stage.COMPUTE: work_ratio, **worker_load.ratios}
        self.documents.set(load.documents)
        self.sequences.set(load.sequences)
        self.tokens.set(load.tokens)
        self.oldest_age_seconds.set(load.oldest_age_seconds)
        self.backlog_seconds.set(max(backlog_seconds, worker_load.wait_seconds))
        self.work_ratio.set(max(ratios.values()))
        for stage, ratio in ratios.items():
            self.stage_work_ratio.labels(stage).set(ratio)
        self.parser_wait_seconds.set(worker_load.wait_seconds)
        self.capacity.set(tokens_per_second)


@dataclass(slots=True)
class BatchCounts:
    """Batches that ran, their tokens and seconds, and their splits: all, and for want of memory.

    They are summed up before export, because a counter that processes share is slow.
    """

    batches: int = 0
    tokens: int = 0
    seconds: float = 0.0
    splits: int = 0
    memory_splits: int = 0


class BatchMetrics:
    """Metrics of the batches that the engine ran."""

    def __init__(self) -> None:
        self.batches = counter("gleaner_batches", "Batches that ran.")
        self.tokens = counter("gleaner_tokens", "Tokens that ran.")
        self.busy_seconds = counter("gleaner_busy_seconds", "Seconds in which a batch ran.")
        self.splits = counter("gleaner_batch_splits", "Batches split after a failure.")
        self.memory_splits = counter(
            "gleaner_memory_splits", "Batches for which memory ran out: split, or refused alone."
        )
        self.fill = histogram("gleaner_batch_fill", "Tokens of a batch over its budget.", _FILL_BUCKETS)

    def count(self, ran: BatchCounts) -> None:
        """Count some batches."""
        self.batches.inc(ran.batches)
        self.tokens.inc(ran.tokens)
        self.busy_seconds.inc(ran.seconds)
        self.splits.inc(ran.splits)
        self.memory_splits.inc(ran.memory_splits)


class ModelMetrics:
    """Metrics of the models that the engine serves: where their weights are, their work, their revisions."""

    def __init__(self) -> None:
        self.revisions = gauge("gleaner_models", "Revisions held, by where their weights are.", "place")
        self.weight_bytes = gauge("gleaner_weight_bytes", "Bytes of weights, by where they are.", "place")
        self.queue_tokens = gauge_by_model("gleaner_model_queue_tokens", "Tokens that wait, by model.")
        self.tokens = counter("gleaner_model_tokens", "Tokens that ran, by model.", "model")
        self.moves = counter("gleaner_model_moves", "Models brought to the device or sent away.", "direction")
        self.move_seconds = counter(
            "gleaner_model_move_seconds", "Seconds of the device spent on moving models.", "direction"
        )
        self.switches = counter(
            "gleaner_revision_switches", "New revisions by outcome: switched, or why not.", "model", "tag", "outcome"
        )
        self.path = gauge_by_model(
            "gleaner_model_path",
            "1 for the code that runs a revision's batches, and why it is no faster.",
            "revision",
            "path",
            "attention",
            "kernels",
            "dtype",
            "reason",
        )
        self.rejected = gauge(
            "gleaner_revision_rejected", "1 while a model's tag points to a revision that is not taken.", "model", "tag"
        )


class MemoryMetrics:
    """Metrics of the memory guard: what batches may take, and how well the cost model predicts it."""

    def __init__(self) -> None:
        self.room_bytes = gauge("gleaner_memory_room_bytes", "Bytes that a batch may take now.")
        self.available_bytes = gauge("gleaner_memory_available_bytes", "Bytes that are there for batches.")
        self.rest_bytes = gauge(
            "gleaner_memory_rest_bytes", "Bytes in use when no batch runs: weights, libraries, graphs."
        )
        self.shrinks = counter("gleaner_memory_shrinks", "How often the room for batches shrank by 5 % or more.")
        self._counted_shrinks = 0
        self.fit_error_ratio = gauge_by_model(
            "gleaner_memory_fit_error_ratio", "Largest overestimate of a measured batch, as a share of it.", "revision"
        )
        self.bytes_per_token = gauge_by_model(
            "gleaner_memory_bytes_per_token", "What one more token of a batch takes at its peak.", "revision"
        )
        self.budget_tokens = gauge_by_model(
            "gleaner_budget_tokens", "Most tokens that a batch may hold now.", "revision"
        )

    def update(self, report: MemoryReport, budget_tokens: Mapping[tuple[str, str], int]) -> None:
        """Set all gauges and count new shrinks; `budget_tokens` is by model and revision."""
        self.room_bytes.set(report.room_bytes)
        self.available_bytes.set(report.available_bytes)
        self.rest_bytes.set(report.rest_bytes)
        self.shrinks.inc(report.shrinks - self._counted_shrinks)
        self._counted_shrinks = report.shrinks
        for (model, revision), tokens in budget_tokens.items():
            function = report.functions[revision]
            self.fit_error_ratio.labels(model, revision).set(function.error_ratio)
            self.bytes_per_token.labels(model, revision).set(function.bytes_per_token)
            self.budget_tokens.labels(model, revision).set(tokens)


class GpuMetrics:
    """Metrics of one GPU, as NVML reports them."""

    def __init__(self) -> None:
        self.utilization_ratio = gauge("gleaner_gpu_utilization_ratio", "Share of time in which a kernel ran.")
        self.memory_used_bytes = gauge("gleaner_gpu_memory_used_bytes", "Bytes of the GPU that are in use by all.")
        self.memory_total_bytes = gauge("gleaner_gpu_memory_total_bytes", "Bytes of the GPU.")
        self.temperature_celsius = gauge("gleaner_gpu_temperature_celsius", "Temperature of the GPU.")
        self.power_watts = gauge("gleaner_gpu_power_watts", "Power that the GPU draws.")
        self.power_limit_watts = gauge("gleaner_gpu_power_limit_watts", "Power that the GPU may draw.")
        self.clock_hertz = gauge("gleaner_gpu_clock_hertz", "Clock of the GPU's parts.", "clock")
        self.throttled = gauge("gleaner_gpu_throttled", "1 while this keeps the GPU's clocks down.", "reason")
        self.ecc_errors = gauge("gleaner_gpu_ecc_errors", "Memory errors since the driver started.", "kind")
        self.xid_errors = counter("gleaner_gpu_xid_errors", "Driver errors by number.", "xid")

    def update(self, reading: GpuReading) -> None:
        """Set the gauges that the reading has values for, and count its new driver errors."""
        for instrument, value in (
            (self.utilization_ratio, reading.utilization_ratio),
            (self.memory_used_bytes, reading.memory_used_bytes),
            (self.memory_total_bytes, reading.memory_total_bytes),
            (self.temperature_celsius, reading.temperature_celsius),
            (self.power_watts, reading.power_watts),
            (self.power_limit_watts, reading.power_limit_watts),
        ):
            if value is not None:
                instrument.set(value)
        for clock, hertz in reading.clocks_hertz.items():
            self.clock_hertz.labels(clock).set(hertz)
        for reason in THROTTLE_REASONS:
            self.throttled.labels(reason).set(float(reason in reading.throttled))
        for kind, count in reading.ecc_errors.items():
            self.ecc_errors.labels(kind).set(count)
        for xid in reading.xids:
            self.xid_errors.labels(str(xid)).inc()
