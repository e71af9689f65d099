"""Model manager: which revision each reference stands for, which others are kept, and how one replaces another.

Exists from the loop's first round, empty until `open`. Used by the loop's thread alone. The rules:
- A reference stands for exactly one revision (`core/placement`); a switch takes effect between two batches.
- The previous revision is kept for requests that name it by its digest, and for a tag that moves back; its weights are
  offloaded once no request uses it. The one before that is dropped as soon as no request uses it: workers report which
  revisions theirs use.
- A candidate, under test by its golden examples, can be requested by its digest only, and is in no list.
Whose weights are on the device is `DeviceWeights`' to say.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from typing import Any

from msgspec.structs import replace

from service.core.admission.policy import ModelQuotas
from service.core.drain import WorkerRegistry
from service.core.placement import ModelAliases, Placement
from service.core.scheduling.scheduler import Scheduler
from service.core.types import Refusal, Submission
from service.engine.memory.guard import Guard
from service.engine.models.device_weights import DeviceWeights, WeightMover
from service.engine.models.loaded_model import FailedModel, InitialModels, LoadedModel, ProfiledModel
from service.engine.models.repository import model_and_tag
from service.metrics.engine import EngineMetrics
from service.wire import FAILED, PREVIOUS, SERVING, ModelStatus

IDLE_SECONDS = 10.0
"""Seconds that the previous revision stays on the device after its last batch."""

log = logging.getLogger(__name__)


class ModelManager:
    """All models of one engine.

    Attributes:
        is_open: there is something to serve.
        aliases: the revision that each reference stands for.
        weights: whose weights are on the device.
        guard: the memory budget of all of them.
        version: of the list of models; grows with every switch, also from one engine of a host to the next.
        device, dtype: what the models run on and in, in words.
    """

    def __init__(
        self, scheduler: Scheduler[Any], mover: WeightMover, quotas: ModelQuotas, metrics: EngineMetrics
    ) -> None:
        self._scheduler = scheduler
        self._mover = mover
        self._quotas = quotas
        self._metrics = metrics
        self.aliases = ModelAliases({})
        self._models: dict[str, LoadedModel] = {}
        self._failed: dict[str, FailedModel] = {}
        self._retired: dict[str, int] = {}
        self._used_seconds: dict[str, float] = {}
        self._launched_tokens: Counter[str] = Counter()
        self.is_open = False
        self.version = 0
        self.device = self.dtype = ""
        self._take_over(Placement(None), Guard(None, {}, mover.executor))

    def open(self, initial: InitialModels) -> None:
        """Begin to serve these models."""
        self.aliases = ModelAliases({each: initial.serving.get(each) for each in initial.references or initial.serving})
        self._failed = dict(initial.failed)
        for reference, failed in initial.failed.items():
            self.aliases.note_problem(reference, failed.problem)
        self._models = {each.model.revision: each.model for each in initial.models}
        self._take_over(initial.placement, initial.guard)
        self._release = initial.release
        self.device, self.dtype = initial.device, initial.dtype
        for revision in initial.serving.values():
            self._scheduler.set_weight(revision, self._quota_weight(revision))
        for model in self._models.values():
            self._export_path(model)
        self.version = time.monotonic_ns()
        self.is_open = True

    def _take_over(self, placement: Placement, guard: Guard) -> None:
        self.guard = guard
        self.weights = DeviceWeights(placement, self._models, guard, self._mover)

    # For the loop

    def __contains__(self, revision: str) -> bool:
        return revision in self._models

    def __getitem__(self, revision: str) -> LoadedModel:
        return self._models[revision]

    def loaded(self) -> tuple[str, ...]:
        return tuple(self._models)

    def statuses(self) -> tuple[ModelStatus, ...]:
        """The status of every reference, in the order of the settings, then of every previous revision."""
        serving = [
            self._failed_status(ref) if revision is None else self._status(ref, revision, SERVING)
            for ref, revision in self.aliases.revisions().items()
        ]
        previous = [self._status(ref, revision, PREVIOUS) for ref, revision in self.aliases.previous().items()]
        return (*serving, *previous)

    def refusal_for(self, submission: Submission, now: float) -> Refusal | None:
        """Refuse a document for its model's sake; None admits it."""
        if not self.is_open:
            return Refusal(submission.key, "not_ready", "the engine is still loading", retry_after_seconds=1.0)
        model = self._models.get(submission.model)
        if model is None:  # Its worker knew it; so an engine before this one served it, and its name has another now.
            detail = f"revision {submission.model} is not loaded any more"
            return Refusal(submission.key, "engine_restarting", detail, retry_after_seconds=1.0)
        longest, fits = max(submission.lengths), self.guard.budget.smallest_budget_tokens(submission.model)
        if longest > fits:
            detail = f"a sequence of {longest} tokens is over the {fits} that always fit this device"
            return Refusal(submission.key, "insufficient_memory", detail)
        if submission.model not in self.aliases or submission.readmitted:
            return None
        return self._quotas.refusal_for(submission, model.status.name, now)

    def launched(self, revision: str, tokens: int, now: float) -> None:
        """Record that a batch was launched."""
        self.weights.placement.use(revision, now)
        self._used_seconds[revision] = now
        self._launched_tokens[self._models[revision].status.name] += tokens

    def collect_retired(self, workers: WorkerRegistry, now: float) -> None:
        """Offload or drop the revisions that no request uses any more."""
        for revision, version in list(self._retired.items()):
            if self._scheduler.stats(revision).documents or not workers.done_with(revision, version):
                continue
            if revision not in self.aliases:
                self._drop(revision)
            elif now - self._used_seconds.get(revision, 0.0) > IDLE_SECONDS:
                self.weights.evict(revision)

    def export_metrics(self) -> None:
        """Set the gauges of models, weights and memory, and count the tokens that were launched."""
        if not self.is_open:
            return
        self.weights.export_metrics(self._metrics)
        for name, tokens in self._launched_tokens.items():
            self._metrics.models.tokens.labels(name).inc(tokens)
        self._launched_tokens.clear()
        waiting = Counter[str]()
        for revision, model in self._models.items():
            waiting[model.status.name] += self._scheduler.stats(revision).waiting_tokens
        for name, tokens in waiting.items():
            self._metrics.models.queue_tokens.labels(name).set(tokens)
        for reference in self.aliases.revisions():
            problem = self.aliases.problem(reference)
            self._metrics.models.rejected.labels(*model_and_tag(reference)).set(float(problem != ""))
        report = self.guard.report()
        if report is not None:
            budget_tokens = {
                (model.status.name, revision): self.guard.budget_tokens(revision)
                for revision, model in self._models.items()
            }
            self._metrics.memory.update(report, budget_tokens)

    # For a rollout, by calls onto the loop's thread

    def admit_candidate(self, candidate: ProfiledModel, now: float) -> None:
        """Serve a reserved revision to requests that name its digest."""
        revision = candidate.model.revision
        self.guard.budget.put(revision, candidate.memory)
        self.guard.rebaseline()
        self._models[revision] = candidate.model
        self._export_path(candidate.model)
        self.weights.placement.arrived(revision, 0.0, now)

    def discard(self, revision: str) -> None:
        """Give up a revision that was reserved for or is a candidate."""
        if revision in self._models:
            self.weights.placement.pin(revision, pinned=False)
            self._retired[revision] = self.version
        else:
            self.weights.remove(revision)
            self._release(revision)

    def switch(self, reference: str, revision: str) -> None:
        """Let a reference stand for a candidate or a previous revision, from the next batch on."""
        self.aliases.clear_problem(reference)
        if revision == self.aliases.resolve(reference):
            return
        self.version += 1
        retired = self.aliases.switch(reference, revision)
        self._retired.pop(revision, None)
        self.weights.placement.pin(revision, pinned=False)
        self.weights.placement.retire(revision, False)
        self._scheduler.set_weight(revision, self._quota_weight(revision))
        for each in retired:
            self._retired[each] = self.version
            self.weights.placement.retire(each)
            self._scheduler.set_weight(each, None)

    def _quota_weight(self, revision: str) -> float:
        return self._quotas.weight(self._models[revision].status.name)

    def _status(self, reference: str, revision: str, state: str) -> ModelStatus:
        tag = reference.partition("@")[2] or "stable"
        return replace(
            self._models[revision].status,
            tag="" if state == PREVIOUS or tag.startswith("sha256:") else tag,
            state=state,
            place="device" if self.weights.placement.is_on_device(revision) else "host",
            problem=self.aliases.problem(reference) if state == SERVING else "",
        )

    def _failed_status(self, reference: str) -> ModelStatus:
        name, tag = model_and_tag(reference)
        return ModelStatus(
            name,
            tag,
            self._failed[reference].revision,
            folder="",
            labels=(),
            max_tokens=0,
            packed=False,
            parameter_bytes=0,
            state=FAILED,
            place="",
            problem=self.aliases.problem(reference),
        )

    def _export_path(self, model: LoadedModel, *, held: bool = True) -> None:
        status = model.status
        code = status.path, status.attention, status.kernels, status.dtype, status.reason
        self._metrics.models.path.labels(status.name, model.revision, *code).set(float(held))

    def _drop(self, revision: str) -> None:
        self.weights.remove(revision)
        self._retired.pop(revision)
        self._used_seconds.pop(revision, None)
        self.guard.budget.drop(revision)
        self._export_path(self._models.pop(revision), held=False)
        self._release(revision)
        log.info("revision dropped", extra={"revision": revision})
