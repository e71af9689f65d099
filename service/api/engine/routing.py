"""May a request be let in now, and which model is it for? Both from what the engine last said of itself. Pure."""

from __future__ import annotations

from service.core.errors import Draining, EngineRestarting, NotReady, UnknownModel
from service.core.types import Phase
from service.wire import SERVING as SERVED
from service.wire import ModelStatus, Status

SERVING = (Phase.READY, Phase.DRAINING)
DEFAULT_TAG, ANY = "stable", ""
"""What a name without a tag stands for, and what it stands for where that is not served."""
RESTART_SECONDS = 3.0
"""About what an engine needs to be ready again; told as Retry-After."""


def is_serving(status: Status, connected: bool) -> bool:
    """Whether submissions are answered now."""
    return connected and status.phase in SERVING and bool(status.models)


def refuse_unless_serving(status: Status, connected: bool) -> None:
    """Raise what stands in a new request's way, if anything does."""
    if status.phase is Phase.DRAINING and not status.admitting:
        raise Draining("The service is shutting down; ask another one.", retry_after_seconds=1.0)
    if is_serving(status, connected):
        return
    if status.models or (status.engine and not connected):
        raise EngineRestarting("The engine is starting again.", retry_after_seconds=RESTART_SECONDS)
    detail = f"The service is {status.phase.value} ({status.percent} %)."
    raise NotReady(detail, retry_after_seconds=RESTART_SECONDS)


def find_model(served: tuple[ModelStatus, ...], wanted: str | None) -> ModelStatus:
    """The model that a request names, or the first. One that was served before is found by its digest alone.

    A name without a tag is `name@stable`, as everywhere; where that is not served, the first of that name.

    Raises:
        UnknownModel: lists those that are served.
    """
    if wanted is None:
        return served[0]
    name, _, version = wanted.partition("@")
    for each in (version,) if version else (DEFAULT_TAG, ANY):
        for model in served:
            wanted_by_name = model.state == SERVED and each in (ANY, model.tag)
            if model.name == name and (wanted_by_name or each == model.revision):
                return model
    there = ", ".join(f"{model.name}@{model.tag} ({model.revision})" for model in served if model.state == SERVED)
    raise UnknownModel(f"{wanted!r} is not served here; there are: {there}.")
