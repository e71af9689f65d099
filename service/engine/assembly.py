"""Assembly of an engine: its loop, with every collaborator in its place."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from service.core.admission.policy import ModelQuotas
from service.core.scheduling.scheduler import QueueLimits, Scheduler
from service.core.scheduling.throughput import ThroughputMeter
from service.engine.batch_forming import BatchFormer
from service.engine.device.watch import DeviceWatch
from service.engine.engine_socket import EngineSocket
from service.engine.execution.executor import DeviceWork
from service.engine.lifecycle import Lifecycle
from service.engine.loop import EngineLoop
from service.engine.models.device_weights import WeightMover
from service.engine.models.manager import ModelManager
from service.engine.models.startup import StartupState
from service.engine.requests.intake import RequestIntake
from service.engine.requests.request_table import Request, RequestTable
from service.engine.requests.status import StatusPublisher
from service.metrics.engine import EngineMetrics
from service.settings import Settings

if TYPE_CHECKING:
    from service.engine.device.gpu_monitor import GpuMonitor


def make_loop(
    engine: str,
    ipc: EngineSocket,
    executor: DeviceWork,
    startup: StartupState,
    settings: Settings,
    metrics: EngineMetrics,
    *,
    gpu: GpuMonitor | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> EngineLoop:
    """Build the loop of the engine with this name; it serves nothing until it is opened.

    Args:
        executor: runs everything on the device.
        startup: progress of the models, written by the loading thread.
        gpu: None where no GPU is watched.
    """
    scheduler: Scheduler[Request] = Scheduler(QueueLimits(settings.queue_limit_tokens, settings.wait_limit_seconds))
    quotas = ModelQuotas(settings.model_weights, settings.model_rate_limits)
    models = ModelManager(scheduler, WeightMover(executor, ipc.calls, metrics), quotas, metrics)
    lifecycle = Lifecycle(engine, startup, models, settings, metrics, DeviceWatch(executor.health, gpu))
    throughput = ThroughputMeter()
    status = StatusPublisher(ipc, lifecycle, scheduler, models, throughput, metrics)
    table = RequestTable(scheduler, ipc, metrics)
    requests = RequestIntake(table, models, lifecycle, throughput, status, metrics)
    return EngineLoop(ipc, requests, BatchFormer(scheduler, models, executor, throughput), lifecycle, status, clock)
