"""The share of requests that a model's candidate answers. Knows no socket; one for each worker.

Only who names no tag may get the candidate: `name@stable` and a digest are what they say. Answers name their revision.
"""

from __future__ import annotations

from service.api.engine.routing import DEFAULT_TAG, find_model
from service.core.models.canary import is_candidates_turn
from service.wire import SERVING, ModelStatus

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
        if (each.name, each.tag, each.state) == (model.name, CANDIDATE_TAG, SERVING):
            return each if each.revision != model.revision else None
    return None
