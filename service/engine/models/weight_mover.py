"""Bringing weights to the device and sending them away, on the compute thread, in order with the batches around it.

Owns the doing and its cost, as metrics and log lines; what moves when is decided elsewhere.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future

from service.engine.ipc.loop_calls import LoopCalls
from service.engine.models.loaded_model import LoadedModel
from service.metrics import EngineMetrics

Done = Callable[[float | None], None]
"""Told, on the loop's thread, how many seconds a move took; None if it failed."""

log = logging.getLogger(__name__)


class WeightMover:
    """Moves weights for one engine."""

    def __init__(self, compute: Executor, errands: LoopCalls, metrics: EngineMetrics) -> None:
        self._compute = compute
        self._errands = errands
        self._metrics = metrics

    def come(self, held: LoadedModel, done: Done) -> Future[None]:
        """Bring weights, before any batch that is launched after this."""
        return self._submit("in", held, held.weights.load, done)

    def leave(self, held: LoadedModel) -> Future[None]:
        """Send weights away, after all batches that were launched before this; the future ends when room is made."""
        return self._submit("out", held, held.weights.offload, lambda _: None)

    def _submit(self, direction: str, held: LoadedModel, work: Callable[[], None], done: Done) -> Future[None]:
        moved: Future[None] = Future()

        def move() -> None:
            seconds = self._timed(direction, held, work)
            self._errands.hand(lambda: done(seconds))
            moved.set_result(None)

        self._compute.submit(move)
        return moved

    def _timed(self, direction: str, held: LoadedModel, work: Callable[[], None]) -> float | None:
        begun = time.monotonic()
        facts = {"direction": direction, "model": held.status.name, "revision": held.revision}
        try:
            work()
        except Exception:  # The batches behind it fail, each document with its own refusal; the engine goes on.
            log.exception("a model could not be moved", extra=facts)
            return None
        seconds = time.monotonic() - begun
        self._metrics.moves.labels(direction).inc()
        self._metrics.move_seconds.labels(direction).inc(seconds)
        log.info("model moved", extra={**facts, "seconds": round(seconds, 3)})
        return seconds
