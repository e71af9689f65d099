"""Status publisher: measures throughput, sends the engine's status to the workers, and sets its metrics.

Reads everything, decides nothing.
"""

from __future__ import annotations

import math

from service.core.debug_snapshot import DebugSnapshot, EngineHistory, GpuUse, MemoryUse
from service.core.memory.budget import MemoryReport
from service.core.scheduling.scheduler import Scheduler
from service.core.scheduling.throughput import ThroughputMeter
from service.core.types import Load, Shape
from service.core.worker_load import Stage, WorkerLoad
from service.engine.engine_socket import EngineSocket
from service.engine.execution.in_flight import InFlightBatch
from service.engine.lifecycle import Lifecycle
from service.engine.models.loaded_model import InitialModels
from service.engine.models.manager import ModelManager
from service.engine.requests.request_table import Request
from service.metrics.engine import BatchCounts, EngineMetrics
from service.wire import DebugSnapshotReply, Status

STATUS_SECONDS = 0.5


class StatusPublisher:
    """The status of one engine, published at each change of phase and twice a second."""

    def __init__(
        self,
        ipc: EngineSocket,
        lifecycle: Lifecycle,
        scheduler: Scheduler[Request],
        models: ModelManager,
        throughput: ThroughputMeter,
        metrics: EngineMetrics,
    ) -> None:
        self._ipc = ipc
        self._lifecycle = lifecycle
        self._scheduler = scheduler
        self._models = models
        self._throughput = throughput
        self._metrics = metrics
        self._ran = BatchCounts()
        self._next_seconds = 0.0

    def is_due(self, now: float) -> bool:
        """Return True once every `STATUS_SECONDS`."""
        due = now >= self._next_seconds
        if due:
            self._next_seconds = now + STATUS_SECONDS
        return due

    def send_to_all(self, now: float) -> None:
        """Send the status to every worker."""
        status = self._status(now)
        for worker in self._lifecycle.workers:
            self._ipc.send(worker, status)

    def send_to(self, worker: bytes, now: float) -> None:
        self._ipc.send(worker, self._status(now))

    def send_debug_snapshot(self, worker: bytes, since: int, history: EngineHistory, now: float) -> None:
        """Answer a worker's request for a debug snapshot."""
        report, throughput = self._models.guard.report(), self._throughput
        load, ratio, worker_load = (
            self._scheduler.load(now),
            throughput.work_ratio(now),
            self._lifecycle.workers.worker_load,
        )

        def predict(model: str, shape: Shape) -> int:
            return report.functions[model].bytes(shape) if report and model in report.functions else 0

        snapshot = DebugSnapshot(
            engine=self._lifecycle.engine,
            now_seconds=now,
            load=load,
            backlog_seconds=self._backlog_seconds(load, worker_load, now),
            work_ratios={
                Stage.COMPUTE.value: ratio,
                **{stage.value: each for stage, each in worker_load.ratios.items()},
            },
            tokens_per_second=throughput.tokens_per_second,
            arrived_tokens_per_second=throughput.arrived_tokens_per_second(now),
            busy_seconds=throughput.busy_seconds,
            batches=tuple(history.since(since, predict)),
            refusals=history.refusals(),
            memory=self._memory(report),
            gpu=self._gpu(),
        )
        self._ipc.send(worker, DebugSnapshotReply(since, snapshot))

    def _memory(self, report: MemoryReport | None) -> MemoryUse | None:
        if report is None:
            return None
        budget = {revision: self._models.guard.budget_tokens(revision) for revision in report.functions}
        return MemoryUse(
            rest_bytes=report.rest_bytes,
            room_bytes=report.room_bytes,
            floor_bytes=report.floor_bytes,
            available_bytes=report.available_bytes,
            shrinks=report.shrinks,
            budget_tokens=budget,
        )

    def _gpu(self) -> GpuUse | None:
        gpu = self._lifecycle.gpu
        if gpu is None:
            return None
        return GpuUse(gpu.utilization_ratio, gpu.memory_used_bytes, gpu.memory_total_bytes, gpu.power_watts)

    def launched(self, tokens: int, full_tokens: int) -> None:
        """Record the fill of a launched batch."""
        self._metrics.batches.fill.observe(tokens / full_tokens)

    def completed(self, launched: InFlightBatch, *, timed: bool) -> None:
        """Record a completed batch; learn the device's speed from it if it was `timed` well."""
        handle, tokens = launched.handle, launched.batch.tokens
        times = handle.begun_seconds, handle.ended_seconds
        full_tokens, model = launched.full_tokens, launched.batch.model
        seconds = self._throughput.computed(tokens, *times, full_tokens=full_tokens, model=model) if timed else 0.0
        ran = self._ran
        ran.batches += 1
        ran.tokens += tokens
        ran.seconds += seconds
        ran.splits += handle.splits
        ran.memory_splits += len(handle.out_of_memory)

    def export_metrics(self, now: float) -> None:
        """Set the gauges of models, memory and load, and count completed batches; forget models that were dropped."""
        self._throughput.keep(self._models.loaded())
        self._models.export_metrics()
        self._metrics.process.update()
        self._metrics.batches.count(self._ran)
        self._ran = BatchCounts()
        load = self._scheduler.load(now)
        worker_load = self._lifecycle.workers.worker_load
        backlog = self._backlog_seconds(load, worker_load, now)
        speed = self._throughput.tokens_per_second or 0.0
        self._metrics.queue.update(load, worker_load, backlog, self._throughput.work_ratio(now), speed)

    def _backlog_seconds(self, load: Load, worker_load: WorkerLoad, now: float) -> float:
        """Backlog of the documents that wait here, and in the workers for preparation."""
        return self._throughput.backlog_seconds(load.tokens + worker_load.held_tokens, now)

    def opened(self, initial: InitialModels) -> None:
        """Begin with the throughput of the timed batches, and set the gauges of the start-up."""
        for each in initial.models:
            if each.timed is not None:
                revision = each.model.revision
                full_tokens = initial.guard.budget_tokens(revision)
                self._throughput.warmed(each.timed, full_tokens=full_tokens, model=revision)
        for part, seconds in self._lifecycle.startup.seconds.items():
            self._metrics.start_seconds.labels(part).set(seconds)

    def _status(self, now: float) -> Status:
        startup, reason, models = self._lifecycle.startup, self._lifecycle.exit_reason, self._models
        return Status(
            engine=self._lifecycle.engine,
            phase=self._lifecycle.phase,
            percent=100 if models.is_open else startup.percent,
            detail=reason.reason if reason is not None else "",
            admitting=models.is_open and self._lifecycle.admitting(now),
            models=models.statuses(),
            models_version=models.version,
            device=models.device,
            dtype=models.dtype,
            load=self._scheduler.load(now),
            tokens_per_second=self._throughput.tokens_per_second,
            alone_tokens_per_second=self._throughput.known_alone(),
            queue_limit_tokens=self._scheduler.limits.queue_tokens,
            limits_waiting=self._scheduler.limits.wait_seconds < math.inf,
            start_seconds=dict(startup.seconds),
            final=reason is not None and reason.final,
        )
