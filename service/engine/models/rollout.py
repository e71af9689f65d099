"""The models that an engine starts with: each loaded, warmed, measured and proven as soon as it is there.

Owns what happens when one fails its golden examples: a start is no time to serve it, and none to serve nothing, so the
tag's earlier revisions are tried, newest first. Where room on the device is short, later models send earlier ones away.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import AbstractContextManager

from model_store.errors import StoreError
from model_store.local.store import Revision
from service.core.arrays import Logits, TokenIds
from service.core.errors import GleanerError, ModelError
from service.core.memory.budget import ModelMemory
from service.core.models.placement import Placement
from service.core.scheduling.batch_latency import TimedBatch
from service.engine.models.factory import ModelFactory
from service.engine.models.golden_check import first_failure
from service.engine.models.loaded_model import InitialModels, LoadedModel
from service.engine.models.profiling import ModelProfiler
from service.engine.models.repository import ModelRepository, by_digest
from service.settings import Settings

Timed = Callable[[str], AbstractContextManager[None]]

log = logging.getLogger(__name__)


class FirstModels:
    """The models of one start, before the loop knows them."""

    def __init__(
        self,
        settings: Settings,
        fetcher: ModelRepository,
        maker: ModelFactory,
        measuring: ModelProfiler,
        compute: Executor,
        timed: Timed,
    ) -> None:
        self._settings = settings
        self._fetcher = fetcher
        self._maker = maker
        self._measuring = measuring
        self._compute = compute
        self._timed = timed
        self._residency = Placement(maker.weights_budget_bytes())
        self._held: dict[str, LoadedModel] = {}
        self._memories: dict[str, ModelMemory] = {}
        self._batches: dict[str, TimedBatch] = {}
        self._serving: dict[str, str] = {}

    def make(self, reference: str, revision: Revision) -> None:
        """Have a reference lead to this revision, or to the newest one before it that is sound.

        Raises:
            ModelError: none is.
        """
        try:
            self._make(revision)
        except ModelError as error:
            log.error("a revision is not taken", extra={"revision": revision.revision, "reason": error.detail})
            self._forget(revision)
            revision = self._earlier(reference, error)
        self._serving[reference] = revision.revision

    def loaded(self) -> InitialModels:
        """All of them, and the guard over what they take."""
        from service.engine.device.selection import describe

        with self._timed("measure"):
            memory = self._measuring.guard(self._memories)
        return InitialModels(
            self._serving,
            list(self._held.values()),
            self._residency,
            memory,
            describe(self._maker.device),
            self._maker.dtype_name,
            self._fetcher.release,
            self._batches,
        )

    def _earlier(self, reference: str, error: ModelError) -> Revision:
        for earlier in self._fetcher.earlier(reference):
            try:
                revision = self._fetcher.obtain(by_digest(reference, earlier))
                self._make(revision)
            except (GleanerError, StoreError) as next_error:
                log.error("a revision is not taken", extra={"revision": earlier, "reason": next_error.detail})
            else:
                log.error("an earlier revision serves", extra={"model": reference, "revision": earlier})
                return revision
        raise error

    def _make(self, revision: Revision) -> None:
        name = revision.revision
        if name in self._held:
            return
        with self._timed("load"):
            held = self._maker.make(revision, lambda weight_bytes: self._settle(name, weight_bytes))
        with self._timed("warm-up"):
            self._measuring.warm(held)
            timed = self._measuring.time(held)
        with self._timed("measure"):
            memory = self._measuring.measure(held)
        with self._timed("prove"):
            problem = first_failure(revision.manifest, held.status, lambda ids: _judge(held, ids), self._settings)
        if problem is not None:
            raise ModelError(f"{reference_of(revision)} is not served: {problem}")
        self._held[name] = held
        if memory is not None:
            self._memories[name] = memory
        if timed is not None:
            self._batches[name] = timed

    def _forget(self, revision: Revision) -> None:
        self._residency.remove(revision.revision)
        self._fetcher.release(revision.revision)

    def _settle(self, revision: str, weight_bytes: int) -> None:
        now = time.monotonic()
        self._residency.add(revision, weight_bytes, now)
        for each in self._residency.bring(revision, now, busy=()) or ():
            self._compute.submit(self._held[each].weights.offload).result()
        self._residency.arrived(revision, 0.0, now)


def reference_of(revision: Revision) -> str:
    """What a person calls a revision, exactly."""
    return f"{revision.name}@{revision.revision}"


def _judge(held: LoadedModel, sequences: list[TokenIds]) -> list[Logits]:
    """One sequence at a time: each fits the device alone, and nobody else waits."""
    rows = []
    for tokens in sequences:
        (outcome,) = held.runner.launch([tokens]).result()
        if isinstance(outcome, GleanerError):
            raise outcome
        rows.append(outcome)
    return rows
