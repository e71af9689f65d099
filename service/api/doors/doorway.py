"""A door as a value: the routes of one protocol, and how it says that something is wrong.

The rule: a door translates and never decides. What is let in, how long it may take and what is refused is the same as
at /extract; an error keeps its status and its `Retry-After`, and only its body is the protocol's own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

import msgspec
from starlette.responses import Response

from service.api import problems
from service.api.calls import AppState
from service.core.errors import GleanerError
from service.settings import Settings

JSON = "application/json"

Answer = Callable[..., Awaitable[Any]]
"""Called with the request, and with the path's parameters by name; what it returns is an ASGI application."""
Refuse = Callable[[GleanerError], Response]
Running = Callable[[AppState, Settings], AbstractAsyncContextManager[None]]


@dataclass(frozen=True, slots=True)
class DoorRoute:
    """One route of a door.

    Attributes:
        path: literal, but for parameters such as `{model}`; `{model:path}` may hold slashes.
        operation: its OpenAPI operation.
        header: requests without this header are for another door.
        works: True where it asks for entities.
    """

    method: str
    path: str
    answer: Answer
    operation: dict[str, Any]
    header: bytes = b""
    works: bool = True


@dataclass(frozen=True, slots=True)
class Doorway:
    """One door. `running`: what it needs while a worker runs."""

    name: str
    routes: tuple[DoorRoute, ...]
    refuse: Refuse
    running: Running | None = None


@dataclass(frozen=True, slots=True)
class DoorMatch:
    """The door, the route and the path's parameters that a request leads to."""

    door: Doorway
    route: DoorRoute
    parameters: Mapping[str, str] = field(default_factory=dict)


def refusal(error: GleanerError, body: object, *, status: int = 0, media_type: str = JSON, **headers: str) -> Response:
    """The response to an error: this body, under the error's own status unless the protocol has another."""
    said = {**problems.headers(error), **{name.replace("_", "-"): value for name, value in headers.items()}}
    return Response(msgspec.json.encode(body), status or problems.STATUS[error.code], said, media_type)
