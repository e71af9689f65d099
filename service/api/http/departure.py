"""A client's departure, as the HTTP server tells it: the work for the client ends at once, and nothing waits for it."""

from __future__ import annotations

from collections.abc import Callable

from starlette.types import Scope

DEPARTURE = "departure"
"""Under this name a request's state has its `Departure`, where the HTTP server tells it."""


class Departure:
    """Of the client of one request. `then` is called once: when the client leaves, or at once if it has left."""

    __slots__ = ("_then", "has_left")

    def __init__(self) -> None:
        self.has_left = False
        self._then: Callable[[], object] | None = None

    def then(self, call: Callable[[], object]) -> None:
        """Have this called, in place of what was to be called before."""
        self._then = call
        if self.has_left:
            self._call()

    def forget(self) -> None:
        """Have nothing called any more."""
        self._then = None

    def tell(self) -> None:
        """The client has left."""
        self.has_left = True
        self._call()

    def _call(self) -> None:
        call, self._then = self._then, None
        if call is not None:
            call()


def departure_of(scope: Scope) -> Departure | None:
    """Of the client of a request; None where the server does not tell it."""
    found = scope.get("state", {}).get(DEPARTURE)
    return found if isinstance(found, Departure) else None
