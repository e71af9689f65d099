"""What an engine says of itself: its status, to the workers, and its gauges. Reads everything, decides nothing."""

from __future__ import annotations

from msgspec.structs import replace

from service.core.lifecycle.drain import WorkerRegistry
from service.core.scheduling.scheduler import Scheduler
from service.core.scheduling.throughput import ThroughputMeter
from service.engine.ipc.server import EngineSocket
from service.engine.lifecycle import Lifecycle
from service.engine.models.manager import ModelManager
from service.engine.models.startup import StartupState
from service.metrics.engine import EngineMetrics
from service.wire import Status

STATUS_SECONDS = 0.5


class StatusPublisher:
    """Told to all at each change of phase and twice a second. `models`: None until they are loaded."""

    def __init__(
        self,
        name: str,
        door: EngineSocket,
        workers: WorkerRegistry,
        loading: StartupState,
        life: Lifecycle,
        scheduler: Scheduler,
        meter: ThroughputMeter,
        metrics: EngineMetrics,
    ) -> None:
        self._name = name
        self._door = door
        self._workers = workers
        self._loading = loading
        self._life = life
        self._scheduler = scheduler
        self._meter = meter
        self._metrics = metrics
        self._next_seconds = 0.0

    def is_due(self, now: float) -> bool:
        """Whether it is time for the next one; true once."""
        due = now >= self._next_seconds
        if due:
            self._next_seconds = now + STATUS_SECONDS
        return due

    def tell_all(self, models: ModelManager | None, now: float) -> None:
        """Send the status to every worker."""
        status = self._status(models, now)
        for worker in self._workers:
            self._door.send(worker, status)

    def tell(self, worker: bytes, models: ModelManager | None, now: float) -> None:
        """Send the status to one."""
        self._door.send(worker, self._status(models, now))

    def show(self, models: ModelManager | None, now: float) -> None:
        """Set the gauges."""
        if models is not None:
            models.show()
        load = self._scheduler.load(now)
        backlog = self._meter.backlog_seconds(load.tokens, now)
        memory = models.memory.report() if models is not None else None
        if models is not None and memory is not None:
            budget_tokens = {revision: models.memory.budget_tokens(revision) for revision in models.held()}
            self._metrics.memory.update(memory, budget_tokens)
        self._metrics.queue.update(load, backlog, self._meter.work_ratio(now), self._meter.tokens_per_second or 0.0)

    def show_start(self) -> None:
        """Set the gauges of the start, once it is over."""
        for part, seconds in self._loading.seconds.items():
            self._metrics.start_seconds.labels(part).set(seconds)

    def _status(self, models: ModelManager | None, now: float) -> Status:
        ending = self._life.ending
        status = Status(
            engine=self._name,
            phase=self._life.phase,
            percent=self._loading.percent,
            detail=ending.reason if ending is not None else "",
            load=self._scheduler.load(now),
            tokens_per_second=self._meter.tokens_per_second,
            start_seconds=dict(self._loading.seconds),
        )
        if models is None:
            return status
        return replace(
            status,
            percent=100,
            admitting=self._life.admitting(now),
            models=models.statuses(),
            models_version=models.version,
            device=models.device,
            dtype=models.dtype,
        )
