"""Request scope: what the HTTP server says of a request, when its first byte came and when its client disconnects."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect
from starlette.types import Scope

ARRIVED = "arrived_seconds"
"""Key of a request's state: arrival of its first byte, in seconds of the monotonic clock."""


def request_start_time(scope: Scope, now: float) -> float:
    """When a request came; `now` where the server does not say.

    A request may have waited for the event loop, and its body for the client, before anything here is called.
    """
    said = scope.get("state", {}).get(ARRIVED)
    return min(said, now) if isinstance(said, float) else now


DISCONNECT = "disconnect"
"""Key of a request's state: its `DisconnectNotice`, where the HTTP server has one."""

_T = TypeVar("_T")


class DisconnectNotice:
    """Notice of the departure of one request's client. `then` is called once: when it leaves, or at once if it has."""

    __slots__ = ("_then", "has_left")

    def __init__(self) -> None:
        self.has_left = False
        self._then: Callable[[], object] | None = None

    def then(self, call: Callable[[], object]) -> None:
        """Replace the callback."""
        self._then = call
        if self.has_left:
            self._call()

    def forget(self) -> None:
        self._then = None

    def tell(self) -> None:
        """The client has left."""
        self.has_left = True
        self._call()

    def _call(self) -> None:
        call, self._then = self._then, None
        if call is not None:
            call()


def disconnect_notice(scope: Scope) -> DisconnectNotice | None:
    """Find the notice of a request's client; None if the server does not tell it."""
    found = scope.get("state", {}).get(DISCONNECT)
    return found if isinstance(found, DisconnectNotice) else None


async def until_disconnect(work: Coroutine[Any, Any, _T], disconnect: DisconnectNotice | None) -> _T:
    """What `work` returns; when the client leaves first, it is cancelled. None: the server does not tell it.

    Raises:
        ClientDisconnect: the client left.
    """
    if disconnect is None:
        return await work
    working = asyncio.current_task()
    assert working is not None, "requests are answered by tasks"
    left = False

    def leave() -> None:
        nonlocal left
        left = True
        working.cancel()

    disconnect.then(leave)
    try:
        return await work
    except asyncio.CancelledError:
        if left and not working.uncancel():
            raise ClientDisconnect from None
        raise
    finally:
        disconnect.forget()
