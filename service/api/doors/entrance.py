"""The entrance: lets each open door answer what is for it, in front of the application that answers all else."""

from __future__ import annotations

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from service.api.doors.doorway import DoorMatch, Doorway
from service.api.doors.registry import DoorTable
from service.api.http.response import CLIENT_CLOSED_REQUEST
from service.core.errors import GleanerError, InternalError, WrongMethod


class DoorEntrance:
    """Answers requests that are for a door; an error in the words of that door."""

    def __init__(self, app: ASGIApp, table: DoorTable) -> None:
        self._app = app
        self._table = table

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match = self._table.at(scope) if scope["type"] == "http" else None
        if match is None:
            wrong = self._table.wrong_method(scope["method"], scope["path"]) if scope["type"] == "http" else None
            await (self._app if wrong is None else _refused_method(*wrong))(scope, receive, send)
            return
        try:
            response = await _answer(match, Request(scope, receive))
        except Exception as error:
            failed = InternalError(f"The service failed over this request ({type(error).__name__}).")
            await match.door.refuse(failed)(scope, receive, send)
            raise
        await response(scope, receive, send)


def _refused_method(door: Doorway, allowed: str) -> Response:
    response = door.refuse(WrongMethod(f"This path takes {allowed}."))
    response.headers["Allow"] = allowed
    return response


async def _answer(match: DoorMatch, request: Request) -> ASGIApp:
    try:
        answer: ASGIApp = await match.route.answer(request, **match.parameters)
    except GleanerError as error:
        return match.door.refuse(error.with_traceback(None))
    except ClientDisconnect:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    return answer
