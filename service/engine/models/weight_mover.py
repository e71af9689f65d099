"""Weight mover: loads weights to the device and offloads them, in order with the batches around.

Moves run on the device's executor. Owns their cost as metrics and log lines; what moves when is decided elsewhere.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future

from service.engine.execution.executor import DeviceWork
from service.engine.ipc.loop_calls import LoopCalls
from service.engine.models.loaded_model import LoadedModel
from service.metrics.engine import EngineMetrics

Done = Callable[[float | None], None]
"""Called on the loop's thread with the seconds that a move took; None if it failed."""

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
