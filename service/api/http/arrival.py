"""The arrival of a request: the moment from which its deadline counts."""

from __future__ import annotations

from starlette.types import Scope

ARRIVED = "arrived_seconds"
"""Under this name the HTTP server says when a request's first byte came, in seconds of the monotonic clock."""


def arrived_seconds(scope: Scope, now: float) -> float:
    """When a request came; `now` where the server does not say.

    A request may have waited for the event loop, and its body for the client, before anything here is called.
    """
    said = scope.get("state", {}).get(ARRIVED)
    return min(said, now) if isinstance(said, float) else now
