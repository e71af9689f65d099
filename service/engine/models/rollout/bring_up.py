"""Rollout: brings one revision up, from its folder to a model that has passed its golden examples.

    read → make room on the device → build → warm up → profile → admit → golden examples

The same at start-up and in a running engine; they differ in their target: where room comes from, and on which way the
golden examples reach the model.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Protocol

from model_store.local.store import Revision
from service.core.arrays import Logits, TokenIds
from service.core.errors import ModelError
from service.engine.models.factory import ModelFactory
from service.engine.models.loaded_model import LoadedModel, ProfiledModel
from service.engine.models.profiling import ModelProfiler
from service.engine.models.repository import ModelRepository
from service.engine.models.rollout.golden_check import first_failure
from service.settings import Settings

Timed = Callable[[str], AbstractContextManager[None]]
"""A context that adds its time to a part of the start-up: load, warm-up, measure or prove."""


class GoldenFailed(ModelError):
    """A revision does not find what its golden examples say."""


class RolloutTarget(Protocol):
    """The engine that a revision is brought up in."""

    def make_room(self, revision: str, weight_bytes: int) -> None:
        """Wait until the device has room for the weights. Raises InsufficientMemory."""

    def admit(self, candidate: ProfiledModel) -> None:
        """Let the candidate be inferred with."""

    def infer(self, model: LoadedModel, sequences: list[TokenIds]) -> list[Logits]:
        """The logits of each sequence by the candidate."""


class Rollout:
    """Brings up revisions of one engine.

    Attributes:
        repository: where they come from.
    """

    def __init__(
        self,
        repository: ModelRepository,
        factory: ModelFactory,
        profiler: ModelProfiler,
        settings: Settings,
        timed: Timed = lambda _: nullcontext(),
    ) -> None:
        self.repository = repository
        self._factory = factory
        self._profiler = profiler
        self._settings = settings
        self._timed = timed

    def bring_up(self, revision: Revision, target: RolloutTarget) -> ProfiledModel:
        """Load, profile and check a revision.

        Raises:
            GoldenFailed: it does not find what its golden examples say.
            GleanerError: it cannot be loaded, or an example could not be inferred.
        """
        with self._timed("load"):
            checkpoint = self._factory.read(revision)
            target.make_room(revision.revision, checkpoint.weight_bytes)
            model = self._factory.build(revision, checkpoint)
        with self._timed("warm-up"):
            self._profiler.warm(model)
            timed = self._profiler.time(model)
        with self._timed("measure"):
            candidate = ProfiledModel(model, self._profiler.measure(model), timed)
        target.admit(candidate)
        with self._timed("prove"):
            problem = first_failure(revision.manifest, model.status, partial(target.infer, model), self._settings)
        if problem is not None:
            raise GoldenFailed(problem)
        return candidate
