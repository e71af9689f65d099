"""The models that the engine holds: which revision each name leads to, which others are kept, and where weights are.

Used by the loop's thread alone. The rules:
- A name leads to exactly one revision (`core/models/aliases`); a switch takes effect between two batches.
- The revision before is kept for those who ask for it by its digest, and for a tag that moves back; its weights leave
  the device once no request uses it. The one before that is dropped, as soon as no request uses it: workers say so.
- A revision that is tried out can be asked for by its digest only, by whoever knows it, and is in no list.
Moves of weights are decided in `core/models/placement` and done by the compute thread, in order with the batches.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Container
from concurrent.futures import Future

from msgspec.structs import replace

from service.core.lifecycle.drain import WorkerRegistry
from service.core.memory.budget import ModelMemory
from service.core.models.aliases import ModelAliases
from service.core.scheduling.scheduler import Scheduler
from service.core.scheduling.shares import ModelQuotas
from service.core.types import Refusal, Submission
from service.engine.models.loaded_model import InitialModels, LoadedModel
from service.engine.models.weight_mover import WeightMover
from service.metrics.engine import EngineMetrics
from service.wire import PREVIOUS, SERVING, ModelStatus

IDLE_SECONDS = 10.0
"""How long the revision before stays on the device after it was last asked for."""

log = logging.getLogger(__name__)


class ModelManager:
    """All revisions of one engine."""

    def __init__(
        self,
        loaded: InitialModels,
        scheduler: Scheduler,
        mover: WeightMover,
        metrics: EngineMetrics,
        shares: ModelQuotas,
    ) -> None:
        self._references = ModelAliases(loaded.serving)
        self._held = {each.revision: each for each in loaded.held}
        self._residency = loaded.residency
        self.memory = loaded.memory
        self.device = loaded.device
        self.dtype = loaded.dtype
        self._release = loaded.release
        self._scheduler = scheduler
        self._mover = mover
        self._metrics = metrics
        self._shares = shares
        self._retired: dict[str, int] = {}
        self._used_seconds: dict[str, float] = {}
        self.version = time.monotonic_ns()
        """Grows with every switch, also over the lives of several engines on one host."""
        for revision in loaded.serving.values():
            scheduler.weigh(revision, self._weight(revision))

    # What the loop asks

    def __contains__(self, revision: str) -> bool:
        return revision in self._held

    def __getitem__(self, revision: str) -> LoadedModel:
        return self._held[revision]

    def held(self) -> tuple[str, ...]:
        """All revisions that are held."""
        return tuple(self._held)

    def statuses(self) -> tuple[ModelStatus, ...]:
        """What is served, and what else may be asked for by its digest."""
        serving = [self._status(ref, revision, SERVING) for ref, revision in self.serving().items()]
        previous = [self._status(ref, revision, PREVIOUS) for ref, revision in self._references.previous().items()]
        return (*serving, *previous)

    def reason_against(self, submission: Submission, now: float) -> Refusal | None:
        """Why a document cannot come in, as far as its model goes."""
        held = self._held.get(submission.model)
        if held is None:
            return Refusal(submission.key, "unknown_model", f"revision {submission.model} is not loaded")
        longest, fits = max(submission.lengths), self.memory.smallest_budget_tokens(submission.model)
        if longest > fits:
            detail = f"a sequence of {longest} tokens is over the {fits} that always fit this device"
            return Refusal(submission.key, "insufficient_memory", detail)
        if submission.model not in self._references:
            return None
        return self._shares.reason_against(submission, held.status.name, now)

    def is_ready(self, revision: str, now: float, busy: Container[str]) -> bool:
        """Whether a batch of this revision may be launched; starts to bring its weights if they are away."""
        if self._residency.is_here(revision):
            return True
        leaving = self._residency.bring(revision, now, busy)
        if leaving is None:
            return False
        for each in leaving:
            self._leave(each)
        self._come(revision)
        return True

    def launched(self, revision: str, tokens: int, now: float) -> None:
        """Note that a batch was launched."""
        self._residency.use(revision, now)
        self._used_seconds[revision] = now
        self._metrics.models.tokens.labels(self._held[revision].status.name).inc(tokens)

    def tidy(self, workers: WorkerRegistry, now: float) -> None:
        """Send away, or drop, what no request uses any more."""
        for revision, version in list(self._retired.items()):
            if self._scheduler.account(revision).documents or not workers.done_with(revision, version):
                continue
            if revision not in self._references:
                self._drop(revision)
            elif self._residency.is_here(revision) and now - self._used_seconds.get(revision, 0.0) > IDLE_SECONDS:
                self._residency.send_away(revision)
                self._leave(revision)

    def show(self) -> None:
        """Set the gauges of what is held."""
        here = len(self._residency.here())
        for place, count, size in (
            ("device", here, self._residency.bytes_here()),
            ("host", len(self._held) - here, self._residency.bytes_away()),
        ):
            self._metrics.models.revisions.labels(place).set(count)
            self._metrics.models.weight_bytes.labels(place).set(size)
        for reference, revision in self.serving().items():
            name = self._held[revision].status.name
            self._metrics.models.queue_tokens.labels(name).set(self._scheduler.account(revision).waiting_tokens)
            self._metrics.models.rejected.labels(reference).set(float(self._references.problem(reference) != ""))

    # What whoever brings new revisions asks, by an errand

    def serving(self) -> dict[str, str]:
        """Which revision each reference leads to."""
        return self._references.serving()

    def leads_to(self, reference: str) -> str:
        """The revision that a reference leads to now."""
        return self._references.leads_to(reference)

    def reserve(self, revision: str, weight_bytes: int, now: float) -> list[Future[None]] | None:
        """Hold a place for a revision that is being made: what to wait for until it is free; None: try again later."""
        if revision not in self._residency:
            self._residency.add(revision, weight_bytes, now)
        leaving = self._residency.bring(revision, now, busy=())
        if leaving is None:
            return None
        self._residency.hold(revision)
        return [self._leave(each) for each in leaving]

    def try_out(self, held: LoadedModel, memory: ModelMemory | None, now: float) -> None:
        """Serve a revision that was made to those who know its digest."""
        if memory is not None:
            self.memory.put(held.revision, memory)
            self.memory.settle()
        self._held[held.revision] = held
        self._residency.arrived(held.revision, 0.0, now)

    def give_up(self, revision: str) -> None:
        """Forget a revision that was reserved for or tried out, and is not taken."""
        if revision in self._held:
            self._residency.hold(revision, held=False)
            self._retired[revision] = self.version
        else:
            self._residency.remove(revision)
            self._release(revision)

    def note_problem(self, reference: str, problem: str) -> None:
        """Say why a newer revision is not taken, until another is or the tag points back."""
        self._references.note_problem(reference, problem)

    def switch(self, reference: str, revision: str) -> None:
        """Let a reference lead to a revision that was tried out or served before, from the next batch on."""
        self._references.clear_problem(reference)
        if revision == self._references.leads_to(reference):
            return
        self.version += 1
        retired = self._references.switch(reference, revision)
        self._retired.pop(revision, None)
        self._residency.hold(revision, held=False)
        self._residency.retire(revision, retired=False)
        self._scheduler.weigh(revision, self._weight(revision))
        for each in retired:
            self._retired[each] = self.version
            self._residency.retire(each)
            self._scheduler.weigh(each, None)

    def clear_problem(self, reference: str) -> None:
        """Note that a reference's tag points again to what it leads to."""
        self._references.clear_problem(reference)

    def _weight(self, revision: str) -> float:
        return self._shares.weight(self._held[revision].status.name)

    def _status(self, reference: str, revision: str, state: str) -> ModelStatus:
        tag = reference.partition("@")[2] or "stable"
        return replace(
            self._held[revision].status,
            tag="" if state == PREVIOUS or tag.startswith("sha256:") else tag,
            state=state,
            place="device" if self._residency.is_here(revision) else "host",
            problem=self._references.problem(reference) if state == SERVING else "",
        )

    def _drop(self, revision: str) -> None:
        self._leave(revision)
        self._retired.pop(revision)
        self._used_seconds.pop(revision, None)
        self._residency.remove(revision)
        self.memory.drop(revision)
        del self._held[revision]
        self._release(revision)
        log.info("revision dropped", extra={"revision": revision})

    def _come(self, revision: str) -> None:
        def done(seconds: float | None) -> None:
            if seconds is not None:
                self._residency.arrived(revision, seconds, time.monotonic())
                self.memory.settle()
            elif revision in self._residency:
                self._residency.send_away(revision)

        self._mover.come(self._held[revision], done)

    def _leave(self, revision: str) -> Future[None]:
        moved = self._mover.leave(self._held[revision])
        self.memory.settle()
        return moved
