"""Model routing: which model a request is for, and whether the engine takes requests: functions of its last status.

A candidate may have a share of a model's requests. Only a request that names no tag can get the candidate:
`name@stable` and a digest are what they say. Answers name their revision.
"""

from __future__ import annotations

import math

from service.core.admission.head import engine_decision
from service.core.admission.policy import QueueState
from service.core.canary import is_candidates_turn
from service.core.errors import ModelError, UnknownModel
from service.core.types import Phase
from service.wire import FAILED, PREVIOUS, ModelStatus, Status
from service.wire import SERVING as SERVED

STARTING = (Phase.SYNCING, Phase.LOADING, Phase.WARMING)
SERVING = (Phase.READY, Phase.DRAINING)
DEFAULT_TAG, ANY = "stable", ""
"""The tag that a name without one means; where that is not served, any tag of that name."""
_MOST_LISTED = 200
"""Characters of a list of models with their revisions; a longer one has the names alone."""
_MOST_WANTED = 60


def is_serving(status: Status, connected: bool) -> bool:
    """True when the engine is connected and answers submissions."""
    return connected and status.phase in SERVING and bool(status.models)


def may_serve_soon(status: Status) -> bool:
    """True while an engine starts, or one that follows it may."""
    return status.phase in STARTING and not status.final


def queue_of(status: Status) -> QueueState:
    """The engine's queue, as the status has it."""
    waiting = status.load.tokens
    return QueueState(
        status.tokens_per_second or math.inf,
        waiting_tokens=waiting,
        counted_tokens=waiting,
        limit_tokens=status.queue_limit_tokens or math.inf,
    )


def refuse_unless_serving(status: Status, connected: bool) -> None:
    """Admit a new request, or refuse it.

    Raises:
        Draining: the service shuts down.
        EngineRestarting: the engine died, or has models but does not serve them yet.
        NotReady: the service still starts.
    """
    engine_decision(
        status.phase,
        status.percent,
        admits=status.admitting,
        serves=is_serving(status, connected),
        was_here=bool(status.models) or bool(status.engine and not connected),
    ).enforce()


def find_model(served: tuple[ModelStatus, ...], wanted: str | None) -> ModelStatus:
    """The model that a request names: `name`, `name@tag` or `name@sha256:…`; the first set if it names none.

    A name without a tag means `name@stable` or, where that is not served, the first model of that name. A revision that
    no tag leads to any more is found by its digest alone.

    Raises:
        UnknownModel: lists the models that are served.
        ModelError: there is one, and no revision of it could be brought up.
    """
    if wanted is None:
        return _unless_failed(served[0])
    name, _, version = wanted.partition("@")
    for each in (version,) if version else (DEFAULT_TAG, ANY):
        for model in served:
            wanted_by_name = model.state != PREVIOUS and each in (ANY, model.tag)
            if model.name == name and (wanted_by_name or each == model.revision):
                return _unless_failed(model)
    models = [model for model in served if model.state == SERVED]
    there = ", ".join(f"{model.name}@{model.tag} ({model.revision})" for model in models)
    if len(there) > _MOST_LISTED:
        there = ", ".join(f"{model.name}@{model.tag}" for model in models)
    raise UnknownModel(f"{_shortened(wanted)!r} is not served here; there are: {there}.")


def _unless_failed(model: ModelStatus) -> ModelStatus:
    if model.state == FAILED:
        raise ModelError(f"{model.name}@{model.tag or model.revision} is not served: {model.problem}")
    return model


def _shortened(wanted: str) -> str:
    return wanted if len(wanted) <= _MOST_WANTED else wanted[:_MOST_WANTED] + "…"


CANDIDATE_TAG = "candidate"


class CanaryRouter:
    """Finds a request's model, and of so many percent of them its candidate."""

    def __init__(self, percent: float) -> None:
        self._percent = percent
        self._requests: dict[str, int] = {}

    def find(self, served: tuple[ModelStatus, ...], wanted: str | None) -> ModelStatus:
        """The model that a request is for; as `find_model`, which raises UnknownModel."""
        model = find_model(served, wanted)
        if not self._percent or "@" in (wanted or "") or model.tag != DEFAULT_TAG:
            return model
        candidate = _candidate(served, model)
        if candidate is None:
            return model
        number = self._requests[model.name] = self._requests.get(model.name, 0) + 1
        return candidate if is_candidates_turn(number, self._percent) else model


def _candidate(served: tuple[ModelStatus, ...], model: ModelStatus) -> ModelStatus | None:
    """The candidate, if there is one and it is another revision."""
    for each in served:
        if (each.name, each.tag, each.state) == (model.name, CANDIDATE_TAG, SERVED):
            return each if each.revision != model.revision else None
    return None
