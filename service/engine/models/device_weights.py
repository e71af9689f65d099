"""Device weights: whose weights are on the device, and the moves that `core/models/placement` decides.

Moves run on the device's executor, in order with the batches around them. Used by the loop's thread alone.
"""

from __future__ import annotations

import time
from collections.abc import Container, Mapping
from concurrent.futures import Future

from service.core.models.placement import Placement
from service.engine.memory.guard import Guard
from service.engine.models.loaded_model import LoadedModel
from service.engine.models.weight_mover import WeightMover
from service.metrics.engine import EngineMetrics


class DeviceWeights:
    """The weights of one engine's models.

    Args:
        models: all loaded models by revision; shared with its owner, who adds and removes them.
    """

    def __init__(
        self, placement: Placement, models: Mapping[str, LoadedModel], guard: Guard, mover: WeightMover
    ) -> None:
        self._placement = placement
        self._models = models
        self._guard = guard
        self._mover = mover

    def is_on_device(self, revision: str) -> bool:
        """True when its weights are on the device or on their way there."""
        return self._placement.is_on_device(revision)

    def is_ready(self, revision: str, now: float, busy: Container[str]) -> bool:
        """True when a batch of this revision may be launched; begins to load its weights if they are offloaded.

        Args:
            busy: revisions with waiting documents, whose weights stay if they can.
        """
        if self._placement.is_on_device(revision):
            return True
        leaving = self._placement.place(revision, now, busy)
        if leaving is None:
            return False
        for each in leaving:
            self._offload(each)
        self._load(revision)
        return True

    def reserve(self, revision: str, weight_bytes: int, now: float) -> list[Future[None]] | None:
        """Pin a place for a revision that is being loaded; returns the moves to wait for, or None: try again later."""
        if revision not in self._placement:
            self._placement.add(revision, weight_bytes, now)
        leaving = self._placement.place(revision, now, busy=())
        if leaving is None:
            return None
        self._placement.pin(revision)
        return [self._offload(each) for each in leaving]

    def arrived(self, revision: str, now: float) -> None:
        """Count a reserved revision as loaded."""
        self._placement.arrived(revision, 0.0, now)

    def use(self, revision: str, now: float) -> None:
        """Record that a batch of this revision was launched."""
        self._placement.use(revision, now)

    def unpin(self, revision: str) -> None:
        """Let a reserved revision be evicted."""
        self._placement.pin(revision, pinned=False)

    def retire(self, revision: str, retired: bool = True) -> None:
        """Let a revision be the first to be evicted, or no longer."""
        self._placement.retire(revision, retired)

    def evict(self, revision: str) -> None:
        """Offload a revision, if it is on the device."""
        if self._placement.is_on_device(revision):
            self._placement.evict(revision)
            self._offload(revision)

    def remove(self, revision: str) -> None:
        """Forget a revision, after offloading it if it is loaded."""
        if revision in self._models:
            self._offload(revision)
        self._placement.remove(revision)

    def export_metrics(self, metrics: EngineMetrics) -> None:
        """Set the gauges of models and weights by place."""
        on_device = len(self._placement.on_device())
        for place, count, size in (
            ("device", on_device, self._placement.bytes_on_device()),
            ("host", len(self._models) - on_device, self._placement.bytes_off_device()),
        ):
            metrics.models.revisions.labels(place).set(count)
            metrics.models.weight_bytes.labels(place).set(size)

    def _load(self, revision: str) -> None:
        def done(seconds: float | None) -> None:
            if seconds is not None:
                self._placement.arrived(revision, seconds, time.monotonic())
                self._guard.rebaseline()
            elif revision in self._placement:
                self._placement.evict(revision)

        self._mover.load(self._models[revision], done)

    def _offload(self, revision: str) -> Future[None]:
        moved = self._mover.offload(self._models[revision])
        self._guard.rebaseline()
        return moved
