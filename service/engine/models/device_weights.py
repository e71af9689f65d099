"""Device weights: whose weights are on the device, and the moves that `core/placement` decides.

Moves run on the device's executor, in order with the batches around them. `DeviceWeights` is used by the loop's thread
alone; `WeightMover` counts each move in metrics and log lines.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Container, Mapping
from concurrent.futures import Future

from service.core.placement import Placement
from service.engine.engine_socket import LoopCalls
from service.engine.execution.executor import DeviceWork
from service.engine.memory.guard import Guard
from service.engine.models.loaded_model import LoadedModel
from service.metrics.engine import EngineMetrics

Done = Callable[[float | None], None]
"""Function of the seconds that a move took, None if it failed; called on the loop's thread."""

log = logging.getLogger(__name__)


class WeightMover:
    """Moves the weights of one engine's models."""

    def __init__(self, executor: DeviceWork, calls: LoopCalls, metrics: EngineMetrics) -> None:
        self.executor = executor
        self._calls = calls
        self._metrics = metrics

    def load(self, model: LoadedModel, done: Done) -> Future[None]:
        """Load weights, before any batch that is launched after this."""
        return self._submit("in", model, model.weights.load, done)

    def offload(self, model: LoadedModel) -> Future[None]:
        """Offload weights, after all batches that were launched before this; the future ends when they are gone."""
        return self._submit("out", model, model.weights.offload, lambda _: None)

    def _submit(self, direction: str, model: LoadedModel, work: Callable[[], None], done: Done) -> Future[None]:
        moved: Future[None] = Future()

        def move() -> None:
            seconds = self._timed(direction, model, work)
            self._calls.submit(lambda: done(seconds))
            moved.set_result(None)

        self.executor.submit(move)
        return moved

    def _timed(self, direction: str, model: LoadedModel, work: Callable[[], None]) -> float | None:
        begun = time.monotonic()
        facts = {"direction": direction, "model": model.status.name, "revision": model.revision}
        try:
            work()
        except Exception:  # The batches behind it fail, each document with its own refusal; the engine goes on.
            log.exception("a model could not be moved", extra=facts)
            return None
        seconds = time.monotonic() - begun
        self._metrics.models.moves.labels(direction).inc()
        self._metrics.models.move_seconds.labels(direction).inc(seconds)
        log.info("model moved", extra={**facts, "seconds": round(seconds, 3)})
        return seconds


class DeviceWeights:
    """The weights of one engine's models.

    Args:
        models: all loaded models by revision; shared with its owner, who adds and removes them.

    Attributes:
        placement: whose weights are on the device, or on their way there.
    """

    def __init__(
        self, placement: Placement, models: Mapping[str, LoadedModel], guard: Guard, mover: WeightMover
    ) -> None:
        self.placement = placement
        self._models = models
        self._guard = guard
        self._mover = mover

    def is_ready(self, revision: str, now: float, busy: Container[str]) -> bool:
        """True when a batch of this revision may be launched; begins to load its weights if they are offloaded.

        Args:
            busy: revisions with waiting documents, whose weights stay if they can.
        """
        if self.placement.is_on_device(revision):
            return True
        leaving = self.placement.place(revision, now, busy)
        if leaving is None:
            return False
        for each in leaving:
            self._offload(each)
        self._load(revision)
        return True

    def reserve(self, revision: str, weight_bytes: int, now: float) -> list[Future[None]] | None:
        """Pin a place for a revision that is being loaded; returns the moves to wait for, or None: try again later."""
        if revision not in self.placement:
            self.placement.add(revision, weight_bytes, now)
        leaving = self.placement.place(revision, now, busy=())
        if leaving is None:
            return None
        self.placement.pin(revision)
        return [self._offload(each) for each in leaving]

    def evict(self, revision: str) -> None:
        """Offload a revision, if it is on the device."""
        if self.placement.is_on_device(revision):
            self.placement.evict(revision)
            self._offload(revision)

    def remove(self, revision: str) -> None:
        """Forget a revision, after offloading it if it is loaded."""
        if revision in self._models:
            self._offload(revision)
        self.placement.remove(revision)

    def export_metrics(self, metrics: EngineMetrics) -> None:
        """Set the gauges of models and weights by place."""
        on_device = len(self.placement.on_device())
        for place, count, size in (
            ("device", on_device, self.placement.bytes_on_device()),
            ("host", len(self._models) - on_device, self.placement.bytes_off_device()),
        ):
            metrics.models.revisions.labels(place).set(count)
            metrics.models.weight_bytes.labels(place).set(size)

    def _load(self, revision: str) -> None:
        def done(seconds: float | None) -> None:
            if seconds is not None:
                self.placement.arrived(revision, seconds, time.monotonic())
                self._guard.rebaseline()
            elif revision in self.placement:
                self.placement.evict(revision)

        self._mover.load(self._models[revision], done)

    def _offload(self, revision: str) -> Future[None]:
        moved = self._mover.offload(self._models[revision])
        self._guard.rebaseline()
        return moved
