"""The metrics that Prometheus sees: names, help and buckets, once. Process sums are prometheus-client's own.

Workers, engine and publisher each write their own; any worker's /metrics adds them up. Names are said here and
nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from service.core.gpu_reading import THROTTLE_REASONS, GpuReading
from service.core.memory.budget import MemoryReport
from service.core.types import Load, Phase

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_STAGE_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
_FILL_BUCKETS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)


def _gauge(name: str, text: str, *labels: str) -> Gauge:
    return Gauge(name, text, labels, multiprocess_mode="mostrecent", registry=None)


def _gauge_by_model(name: str, text: str) -> Gauge:
    """Goes with its engine: the next one may hold other models."""
    return Gauge(name, text, ("model",), multiprocess_mode="livemostrecent", registry=None)


class WorkerMetrics:
    """What a front worker counts."""

    def __init__(self) -> None:
        self.requests = Counter(
            "gleaner_requests", "Answered requests by route and status.", ("route", "status"), registry=None
        )
        self.request_seconds = Histogram(
            "gleaner_request_seconds", "Seconds from a request's first byte to its answer.", ("route",),
            buckets=_STAGE_BUCKETS, registry=None,
        )  # fmt: skip
        self.documents = Counter(
            "gleaner_documents", "Answered documents by outcome: ok, or the error's code.", ("outcome",), registry=None
        )
        self.stage_seconds = Histogram(
            "gleaner_stage_seconds", "Seconds of a document in each stage.", ("stage",),
            buckets=_STAGE_BUCKETS, registry=None,
        )  # fmt: skip
        self.entities = Counter("gleaner_entities", "Entities found.", registry=None)
        self.parser_deaths = Counter(
            "gleaner_parser_deaths", "Parser processes that crashed or were stopped over a file.", registry=None
        )
        self.resubmitted = Counter(
            "gleaner_resubmitted_documents", "Documents submitted again after an engine died.", registry=None
        )


class GpuMetrics:
    """What a GPU tells of itself."""

    def __init__(self) -> None:
        self.utilization_ratio = _gauge("gleaner_gpu_utilization_ratio", "Share of time in which a kernel ran.")
        self.memory_used_bytes = _gauge("gleaner_gpu_memory_used_bytes", "Bytes of the GPU that are in use by all.")
        self.memory_total_bytes = _gauge("gleaner_gpu_memory_total_bytes", "Bytes of the GPU.")
        self.temperature_celsius = _gauge("gleaner_gpu_temperature_celsius", "Temperature of the GPU.")
        self.power_watts = _gauge("gleaner_gpu_power_watts", "Power that the GPU draws.")
        self.power_limit_watts = _gauge("gleaner_gpu_power_limit_watts", "Power that the GPU may draw.")
        self.clock_hertz = _gauge("gleaner_gpu_clock_hertz", "Clock of the GPU's parts.", "clock")
        self.throttled = _gauge("gleaner_gpu_throttled", "1 while this keeps the GPU's clocks down.", "reason")
        self.ecc_errors = _gauge("gleaner_gpu_ecc_errors", "Memory errors since the driver started.", "kind")
        self.xid_errors = Counter("gleaner_gpu_xid_errors", "Driver errors by number.", ("xid",), registry=None)

    def show(self, reading: GpuReading) -> None:
        """Set the gauges to what it tells, and count its driver's errors."""
        for gauge, value in (
            (self.utilization_ratio, reading.utilization_ratio),
            (self.memory_used_bytes, reading.memory_used_bytes),
            (self.memory_total_bytes, reading.memory_total_bytes),
            (self.temperature_celsius, reading.temperature_celsius),
            (self.power_watts, reading.power_watts),
            (self.power_limit_watts, reading.power_limit_watts),
        ):
            if value is not None:
                gauge.set(value)
        for clock, hertz in reading.clocks_hertz.items():
            self.clock_hertz.labels(clock).set(hertz)
        for reason in THROTTLE_REASONS:
            self.throttled.labels(reason).set(float(reason in reading.throttled))
        for kind, count in reading.ecc_errors.items():
            self.ecc_errors.labels(kind).set(count)
        for xid in reading.xids:
            self.xid_errors.labels(str(xid)).inc()


class GraphMetrics:
    """What graphs of small batches do, where there may be any."""

    def __init__(self) -> None:
        self.batches = Counter("gleaner_graph_batches", "Batches that a graph ran; all others: plain.", registry=None)
        self.held = _gauge_by_model("gleaner_graphs", "Graphs that are held; their bytes count as at rest.")


class EngineMetrics:
    """What the engine counts."""

    def __init__(self) -> None:
        self.queue_documents = _gauge("gleaner_queue_documents", "Documents that wait.")
        self.queue_sequences = _gauge("gleaner_queue_sequences", "Sequences that wait.")
        self.queue_tokens = _gauge("gleaner_queue_tokens", "Tokens that wait.")
        self.queue_oldest_age_seconds = _gauge("gleaner_queue_oldest_age_seconds", "Age of the oldest that waits.")
        self.backlog_seconds = _gauge(
            "gleaner_backlog_seconds", "Waiting and lately refused tokens over measured tokens per second."
        )
        self.work_ratio = _gauge("gleaner_work_ratio", "Arrived tokens per second over the capacity.")
        self.capacity = _gauge("gleaner_capacity_tokens_per_second", "Tokens per second of full batches, as measured.")
        self.phase = _gauge("gleaner_phase", "1 for the phase that the engine is in.", "phase")
        self.start_seconds = _gauge("gleaner_start_seconds", "Seconds that each part of the start took.", "part")
        self.starts = Counter("gleaner_engine_starts", "Engines started; above one, engines that died.", registry=None)
        self.batches = Counter("gleaner_batches", "Batches that ran.", registry=None)
        self.tokens = Counter("gleaner_tokens", "Tokens that ran.", registry=None)
        self.busy_seconds = Counter("gleaner_busy_seconds", "Seconds in which a batch ran.", registry=None)
        self.splits = Counter("gleaner_batch_splits", "Batches split after a failure.", registry=None)
        self.refusals = Counter("gleaner_refusals", "Documents that the engine refused.", ("code",), registry=None)
        self.models = _gauge("gleaner_models", "Revisions held, by where their weights are.", "place")
        self.weight_bytes = _gauge("gleaner_weight_bytes", "Bytes of weights, by where they are.", "place")
        self.model_queue_tokens = _gauge_by_model("gleaner_model_queue_tokens", "Tokens that wait, by model.")
        self.model_tokens = Counter("gleaner_model_tokens", "Tokens that ran, by model.", ("model",), registry=None)
        self.moves = Counter(
            "gleaner_model_moves", "Models brought to the device or sent away.", ("direction",), registry=None
        )
        self.move_seconds = Counter(
            "gleaner_model_move_seconds", "Seconds of the device spent on moving models.", ("direction",), registry=None
        )
        self.switches = Counter(
            "gleaner_revision_switches", "New revisions by outcome: switched, or why not.", ("model", "outcome"),
            registry=None,
        )  # fmt: skip
        self.rejected = _gauge(
            "gleaner_revision_rejected", "1 while a model's tag points to a revision that is not taken.", "model"
        )
        self.batch_fill = Histogram(
            "gleaner_batch_fill", "Tokens of a batch over its budget.", buckets=_FILL_BUCKETS, registry=None
        )

        self.memory_splits = Counter(
            "gleaner_memory_splits", "Batches for which memory ran out: split, or refused alone.", registry=None
        )
        self.memory_room_bytes = _gauge("gleaner_memory_room_bytes", "Bytes that a batch may take now.")
        self.memory_available_bytes = _gauge("gleaner_memory_available_bytes", "Bytes that are there for batches.")
        self.memory_rest_bytes = _gauge(
            "gleaner_memory_rest_bytes", "Bytes in use when no batch runs: weights, libraries, graphs."
        )
        self.memory_shrinks = _gauge("gleaner_memory_shrinks", "How often the room for batches shrank.")
        self.memory_fit_error_ratio = _gauge_by_model(
            "gleaner_memory_fit_error_ratio", "Largest overestimate of a measured batch, as a share of it."
        )
        self.memory_bytes_per_token = _gauge_by_model(
            "gleaner_memory_bytes_per_token", "What one more token of a batch takes at its peak."
        )
        self.budget_tokens = _gauge_by_model("gleaner_budget_tokens", "Most tokens that a batch may hold now.")

        self.gpu_lost = _gauge("gleaner_gpu_lost", "1 when the GPU is lost and the service ends for replacement.")
        self.gpu: GpuMetrics | None = None

    def show_load(self, load: Load, backlog_seconds: float, work_ratio: float, tokens_per_second: float) -> None:
        """Set the gauges of the queue."""
        self.queue_documents.set(load.documents)
        self.queue_sequences.set(load.sequences)
        self.queue_tokens.set(load.tokens)
        self.queue_oldest_age_seconds.set(load.oldest_age_seconds)
        self.backlog_seconds.set(backlog_seconds)
        self.work_ratio.set(work_ratio)
        self.capacity.set(tokens_per_second)

    def show_gpu(self, reading: GpuReading) -> None:
        """Show what a GPU tells of itself; where none is watched, there are no such metrics."""
        self.gpu = self.gpu or GpuMetrics()
        self.gpu.show(reading)

    def show_memory(self, report: MemoryReport, budget_tokens: Mapping[str, int]) -> None:
        """Set the gauges of the memory guard; models by revision."""
        self.memory_room_bytes.set(report.room_bytes)
        self.memory_available_bytes.set(report.available_bytes)
        self.memory_rest_bytes.set(report.rest_bytes)
        self.memory_shrinks.set(report.shrinks)
        for model, function in report.functions.items():
            self.memory_fit_error_ratio.labels(model).set(function.error_ratio)
            self.memory_bytes_per_token.labels(model).set(function.bytes_per_token)
        for model, tokens in budget_tokens.items():
            self.budget_tokens.labels(model).set(tokens)

    def count_batch(self, tokens: int, seconds: float, splits: int, memory_splits: int = 0) -> None:
        """Count a batch that ran, and how often it was split, for want of memory too."""
        self.batches.inc()
        self.tokens.inc(tokens)
        self.busy_seconds.inc(seconds)
        self.splits.inc(splits)
        self.memory_splits.inc(memory_splits)

    def show_phase(self, phase: Phase) -> None:
        """Set the gauge of this phase to 1 and all others to 0."""
        for each in Phase:
            self.phase.labels(each.value).set(float(each is phase))


class PublisherMetrics:
    """What the publisher counts."""

    def __init__(self) -> None:
        self.deliveries = Counter(
            "gleaner_cloudwatch_deliveries", "Calls to CloudWatch by outcome.", ("outcome",), registry=None
        )
        self.given_up = Counter(
            "gleaner_cloudwatch_given_up", "Rounds of points that CloudWatch will never get.", registry=None
        )


def exposition() -> bytes:
    """All processes' metrics in Prometheus' text format."""
    return generate_latest(_all_processes())


def series() -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """All processes' values: a sample's name and its sorted labels → its value."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for metric in _all_processes().collect()
        for sample in metric.samples
    }


def _all_processes() -> CollectorRegistry:
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry


def forget_process(process: int, folder: Path) -> None:
    """Drop the live gauges of a process that is gone; its counters stay in the sums."""
    mark_process_dead(process, str(folder))  # type: ignore[no-untyped-call]
