"""The life of an engine: the phase it is in, its drain, and why it ends. The loop asks; nothing here waits."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from service.core.lifecycle.drain import Drain, WorkerRegistry
from service.core.types import Phase
from service.engine.ending import EXIT_BROKEN, ExitReason
from service.engine.models.startup import StartupState
from service.metrics.engine import EngineMetrics
from service.process import EXIT_DEVICE_LOST, EXIT_UNUSABLE
from service.settings import Settings

if TYPE_CHECKING:
    from service.engine.device.gpu_monitor import GpuMonitor

log = logging.getLogger(__name__)


class Lifecycle:
    """One engine's, from loading to its end."""

    def __init__(
        self, loading: StartupState, settings: Settings, metrics: EngineMetrics, gpu: GpuMonitor | None
    ) -> None:
        self._loading = loading
        self._settings = settings
        self._metrics = metrics
        self._gpu = gpu
        self._drain: Drain | None = None
        self._ending: ExitReason | None = None
        self.phase = Phase.SYNCING

    @property
    def ending(self) -> ExitReason | None:
        """Why it ends without being told to, if so."""
        if self._loading.failure is not None:
            return ExitReason(EXIT_UNUSABLE, self._loading.failure, refuse=False)
        return self._ending

    def admitting(self, now: float) -> bool:
        """Whether new requests are let in, as far as a drain goes."""
        return self._drain is None or self._drain.admitting(now)

    def overdue(self, now: float) -> bool:
        """Whether a drain took so long that what is left is refused."""
        return self._drain is not None and self._drain.overdue(now)

    def is_over(self, workers: WorkerRegistry, *, busy: bool, now: float) -> bool:
        """Whether to leave now; `busy`: documents wait or run."""
        if self.ending is not None:
            return True
        if self._drain is None:
            return False
        if not self._loading.opened.done():  # A successor's workers may still wait for what its predecessor left.
            return (self._drain.has_reports(workers, now) and workers.idle()) or self._drain.hopeless(now)
        return not busy and self._drain.is_done(workers, now)

    def go_on(self, *, stopping: bool, now: float) -> bool:
        """Note what has happened; true when it begins another phase."""
        if stopping and self._drain is None:
            self._drain = Drain(now, self._settings.drain_grace_seconds, self._settings.drain_seconds)
        phase = self._present_phase()
        if phase is self.phase:
            return False
        self.phase = phase
        self._metrics.set_phase(phase)
        log.info("phase", extra={"phase": phase.value, "seconds": self._loading.seconds})
        return True

    def _present_phase(self) -> Phase:
        if self.ending is not None:
            return Phase.FAILED
        if self._drain is not None:
            return Phase.DRAINING
        return Phase.READY if self._loading.opened.done() else self._loading.phase

    def begin_gpu_watch(self) -> None:
        """Watch the GPU that the models were loaded to, unless the settings say otherwise."""
        if self._gpu is not None and self._settings.gpu_watch == "auto" and self._loading.gpu is not None:
            self._gpu.begin(self._loading.gpu)

    def watch_gpu(self) -> bool:
        """Show what was read; true when the engine ends, for a lost GPU or a broken device."""
        for reading in self._gpu.take() if self._gpu is not None else ():
            self._metrics.update_gpu(reading)
        self._ending = self._ending or self._gpu_lost()
        return self._ending is not None

    def broke(self, reason: str) -> None:
        """Note that the device failed over a batch, which ends it; what waits is left to the next engine."""
        self._ending = self._gpu_lost() or ExitReason(EXIT_BROKEN, reason, refuse=False)

    def _gpu_lost(self) -> ExitReason | None:
        reason = self._gpu.lost() if self._gpu is not None else None
        self._metrics.gpu_lost.set(float(reason is not None))
        return None if reason is None else ExitReason(EXIT_DEVICE_LOST, reason, refuse=True)
