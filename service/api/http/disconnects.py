"""A caller that hangs up is not worked for: what was begun for it is cancelled, in the engine's queue too."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

CLIENT_CLOSED_REQUEST = 499
"""Nobody reads it; access logs and metrics show it (nginx's convention)."""


async def unless_disconnected(request: Request, work: Coroutine[Any, Any, Response]) -> Response:
    """The work's response, unless the caller hangs up first: then the work is cancelled."""
    answer = asyncio.ensure_future(work)
    hung_up = asyncio.ensure_future(_hang_up(request))
    try:
        await asyncio.wait((answer, hung_up), return_when=asyncio.FIRST_COMPLETED)
        return answer.result() if answer.done() else Response(status_code=CLIENT_CLOSED_REQUEST)
    finally:
        for task in (answer, hung_up):
            task.cancel()
        await asyncio.gather(answer, hung_up, return_exceptions=True)


async def _hang_up(request: Request) -> None:
    """Return when the caller has gone; the body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
