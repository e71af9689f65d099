"""Initial rollout: the models that an engine starts with, brought up one after the other before the loop serves.

Where weights do not all fit the device, later models evict earlier ones.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Executor

from model_store.errors import Damaged, StoreError
from model_store.local.store import Revision
from service.core.arrays import Logits, TokenIds
from service.core.errors import GleanerError, InsufficientMemory, ModelError, Overloaded
from service.core.memory.budget import ModelMemory
from service.core.placement import Placement
from service.engine.memory.guard import Guard
from service.engine.models.bring_up import GoldenFailed, Rollout
from service.engine.models.loaded_model import FailedModel, InitialModels, LoadedModel, ProfiledModel
from service.engine.models.repository import by_digest
from service.engine.models.tag_watcher import DIED, RolloutJournal

log = logging.getLogger(__name__)


class InitialRollout:
    """The rollout target of a start-up: nothing serves yet, so every step is taken directly."""

    def __init__(
        self, rollout: Rollout, executor: Executor, weights_budget_bytes: int | None, journal: RolloutJournal
    ) -> None:
        self._rollout = rollout
        self._repository = rollout.repository
        self._executor = executor
        self._journal = journal
        self._placement = Placement(weights_budget_bytes)
        self._models: dict[str, ProfiledModel] = {}
        self._serving: dict[str, str] = {}
        self._failed: dict[str, GleanerError | Damaged] = {}
        self._failed_revisions: dict[str, str] = {}

    def bring_up(self, reference: str, fetch: Callable[[], Revision], *, is_only: bool) -> None:
        """Let a reference stand for what is fetched, or for the newest revision before it that passes.

        Where none passes, the other models are served without it: what is wrong with one ends none of them.

        Args:
            is_only: there is no other model, so that a revision with which an engine died is tried again.
        """
        revision, has_died = None, False
        try:
            revision = fetch()
            has_died = self._journal.before.crashed.get(reference) == revision.revision
            if has_died:
                raise ModelError(DIED)
            self._bring_up(reference, revision)
        except (GleanerError, Damaged) as error:
            name = revision.revision if revision else ""
            log.error("a revision is not taken", extra={"model": reference, "revision": name, "reason": error.detail})
            earlier = self._earlier(reference)
            if earlier is None and revision is not None and has_died and is_only:
                self._bring_up(reference, revision)  # There is nothing else; it may have died of something else.
                earlier = revision
            if earlier is None:
                self._failed[reference] = error
                self._failed_revisions[reference] = name
                return
            revision = earlier
        self._serving[reference] = revision.revision

    def require_any(self) -> None:
        """Raise the first model's error if none can be served."""
        if not self._serving:
            raise next(iter(self._failed.values()))

    def memories(self) -> dict[str, ModelMemory]:
        """Memory of the batches of each revision."""
        return {revision: profiled.memory for revision, profiled in self._models.items()}

    def models(self, references: tuple[str, ...], guard: Guard, device: str, dtype: str) -> InitialModels:
        """Everything brought up, and what failed; `references`: those of the settings, in their order."""
        models = tuple(self._models.values())
        failed = {
            reference: FailedModel(
                revision := self._failed_revisions[reference],
                f"{revision} is not taken: {error.detail}".strip(),
                tries_again=not revision or isinstance(error, (Overloaded, InsufficientMemory)),
            )
            for reference, error in self._failed.items()
        }
        return InitialModels(
            self._serving, models, self._placement, guard, device, dtype, self._repository.release, failed, references
        )

    # The target of the rollout

    def make_room(self, revision: str, weight_bytes: int) -> None:
        now = time.monotonic()
        self._placement.add(revision, weight_bytes, now)
        for each in self._placement.place(revision, now, busy=()) or ():
            self._executor.submit(self._models[each].model.weights.offload).result()
        self._placement.arrived(revision, 0.0, now)

    def admit(self, candidate: ProfiledModel) -> None:
        """Nothing to do: the golden examples reach the candidate directly."""

    def infer(self, model: LoadedModel, sequences: list[TokenIds]) -> list[Logits]:
        return model.infer(sequences)

    def _bring_up(self, reference: str, revision: Revision) -> None:
        name = revision.revision
        if name in self._models:
            return
        if self._journal.before.serving.get(reference) != name:
            self._journal.write(self._journal.before.serving, {reference: name})
        try:
            self._models[name] = self._rollout.bring_up(revision, self)
        except GleanerError as error:
            self._placement.remove(name)
            self._repository.release(name)
            if isinstance(error, GoldenFailed):
                raise ModelError(f"{revision.name}@{name} is not served: {error.detail}") from error
            raise

    def _earlier(self, reference: str) -> Revision | None:
        """The newest revision that the reference stood for before and that passes, brought up."""
        for earlier in self._repository.earlier(reference):
            try:
                revision = self._repository.obtain(by_digest(reference, earlier))
                self._bring_up(reference, revision)
            except (GleanerError, StoreError) as next_error:
                log.error("a revision is not taken", extra={"revision": earlier, "reason": next_error.detail})
            else:
                log.error("an earlier revision serves", extra={"model": reference, "revision": earlier})
                return revision
        return None
