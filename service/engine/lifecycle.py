"""Lifecycle of an engine: decides its phase, drain and exit. The loop asks; nothing here waits.

syncing → loading → warming → ready → draining          failed: an exit reason; see `ExitReason`
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from service.core.drain import Drain, WorkerRegistry
from service.core.gpu_reading import GpuReading
from service.core.liveness import StallDetector, SuspendAwareClock
from service.core.types import Phase
from service.engine.device.watch import DeviceWatch
from service.engine.models.manager import ModelManager
from service.engine.models.startup import StartupState
from service.logs import LogEvent
from service.metrics.engine import EngineMetrics
from service.process import EXIT_BROKEN, EXIT_DEVICE_LOST, EXIT_UNUSABLE, FINAL_EXITS
from service.settings import Settings

START_SECONDS = 600.0
"""Most seconds without a step of a start-up: a cold disk reads large libraries and weights that slowly."""
DEVICE_START_SECONDS = 120.0
"""Most seconds without a step while a GPU warms up, is measured, or computes golden examples."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ExitReason:
    """Reason for which an engine exits without being told to."""

    exit_code: int
    reason: str

    @property
    def final(self) -> bool:
        """True if admitted documents must be refused, because no other engine will be started."""
        return self.exit_code in FINAL_EXITS


class Lifecycle:
    """One engine's way from start-up to its exit.

    Args:
        engine: its name, different for every engine process.
        models: open once there is a model to serve.
        device: known state of the device.

    Attributes:
        gpu: the last reading of the GPU, if one is watched.
    """

    def __init__(
        self,
        engine: str,
        startup: StartupState,
        models: ModelManager,
        settings: Settings,
        metrics: EngineMetrics,
        device: DeviceWatch,
    ) -> None:
        self.engine = engine
        self.startup = startup
        self.workers = WorkerRegistry(settings.front_workers)
        self.phase = Phase.SYNCING
        self.gpu: GpuReading | None = None
        self._models = models
        self._settings = settings
        self._metrics = metrics
        self._device = device
        self._start_up = StallDetector()
        self._awake = SuspendAwareClock()
        self._drain: Drain | None = None
        self._exit_reason: ExitReason | None = None
        metrics.gpu_lost.set(0.0)

    @property
    def exit_reason(self) -> ExitReason | None:
        """Reason for an exit without being told to; None while there is none."""
        if self.startup.failure is not None:
            return ExitReason(EXIT_UNUSABLE, self.startup.failure)
        return self._exit_reason

    @property
    def awake_seconds(self) -> float:
        """Running time without pauses: the clock for the silence of others."""
        return self._awake.seconds

    def was_paused_since(self, seconds: float) -> bool:
        return seconds < self._awake.resumed_seconds

    def admitting(self, now: float) -> bool:
        """True unless a drain has closed admission."""
        return self._drain is None or self._drain.admitting(now)

    def drain_timed_out(self, now: float) -> bool:
        """True when a drain took too long, and the remaining documents must be refused."""
        return self._drain is not None and self._drain.timed_out(now)

    def is_over(self, *, busy: bool, now: float) -> bool:
        """True when the loop must end. `busy`: documents wait or run."""
        if self.exit_reason is not None:
            return True
        if self._drain is None:
            return False
        if not self._models.is_open:  # Workers may still wait for what a predecessor left; the models are needed then.
            idle = self._drain.has_reports(self.workers, now) and self.workers.idle()
            return idle or self._drain.abandoned(now)
        return not busy and self._drain.is_done(self.workers, now)

    def advance(self, *, stopping: bool, now: float) -> bool:
        """Note what has happened; True when another phase begins."""
        self._awake.tick(now)
        if stopping and self._drain is None:
            self._drain = Drain(now, self._settings.drain_grace_seconds, self._settings.drain_seconds)
        phase = self._present_phase()
        if phase is self.phase:
            return False
        self.phase = phase
        self._metrics.set_phase(phase)
        log.info("phase", extra={"phase": phase.value, "seconds": self.startup.seconds})
        return True

    def begin_gpu_monitoring(self) -> None:
        """Watch the GPU that the models were loaded to, unless the settings name another one or none."""
        if self._settings.gpu_watch == "auto" and self.startup.gpu is not None:
            self._device.begin(self.startup.gpu)

    def check_device(self, *, computing: bool) -> None:
        """Export the GPU's readings and decide on an exit. `computing`: batches are in flight."""
        for reading in self._device.take():
            self.gpu = reading
            self._metrics.update_gpu(reading)
        if self._exit_reason is None:
            lost = self._device.lost(self.awake_seconds, computing=computing)
            self._exit_reason = self._device_lost(lost) or self._start_hung()

    def device_failed(self, reason: str) -> None:
        """Exit because the device failed on a batch; waiting documents are left to the next engine."""
        lost = self._device_lost(self._device.lost_after_failure())
        self._exit_reason = lost or ExitReason(EXIT_BROKEN, reason)

    def device_hung(self, seconds: float) -> None:
        """Exit because a batch does not end; waiting and running documents are left to the next engine."""
        log.error("a batch hangs", extra={"event": LogEvent.DEVICE_HUNG, "seconds": round(seconds, 1)})
        self.device_failed(f"a batch made no progress for {seconds:.0f} s")

    def _present_phase(self) -> Phase:
        if self.exit_reason is not None:
            return Phase.FAILED
        if self._drain is not None:
            return Phase.DRAINING
        return Phase.READY if self._models.is_open else self.startup.phase

    def _device_lost(self, reason: str | None) -> ExitReason | None:
        if reason is None:
            return None
        self._metrics.gpu_lost.set(1.0)
        return ExitReason(EXIT_DEVICE_LOST, reason)

    def _start_hung(self) -> ExitReason | None:
        """End a start-up without progress, except while it fetches; without a GPU, another engine may fare better."""
        seconds = self._start_up.seconds(self.startup.steps, self.awake_seconds)
        on_gpu = self.startup.gpu is not None
        limit = DEVICE_START_SECONDS if on_gpu and self.startup.on_device else START_SECONDS
        if self._models.is_open or "fetch" in self.startup.under_way or seconds <= limit:
            return None
        log.error("the start-up hangs", extra={"event": LogEvent.DEVICE_HUNG, "seconds": round(seconds, 1)})
        reason = f"the start-up made no progress for {seconds:.0f} s"
        return self._device_lost(reason) if on_gpu else ExitReason(EXIT_BROKEN, reason)
