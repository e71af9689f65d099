"""Routes of the console. The page is for everybody; what it shows is for those whom the access policy admits."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from service.api.calls import AppState
from service.api.console.console import PAGE, Console
from service.api.console.shown_pages import DRAWN, shown_page
from service.api.http.api_keys import presented_key, sender_of
from service.api.http.request_body import read_all
from service.api.http.response import UNBUFFERED
from service.core.errors import Forbidden, InvalidOptions, Unauthenticated, UnknownRoute
from service.core.tenants import Tenant
from service.documents.document import PictureRequest
from service.documents.format_detection import SUPPORTED

router = APIRouter(include_in_schema=False)


@router.get("/")
async def home(request: Request) -> Response:
    """The page, where the console is on the port of all others."""
    console = _console(request)
    if console.on_internal_port:
        raise UnknownRoute("There is nothing at this path.")
    return console.files.response(PAGE, request.headers.get("if-none-match"))


@router.get("/console")
async def page(request: Request) -> Response:
    return _console(request).files.response(PAGE, request.headers.get("if-none-match"))


@router.get("/console/files/{name:path}")
async def file(request: Request, name: str) -> Response:
    """A file that the page is made of, or a sample."""
    return _console(request).files.response(name, request.headers.get("if-none-match"))


@router.get("/console/entrance")
async def entrance(request: Request) -> Response:
    """Authorizes the console: client name, limits of a document, and what is taken."""
    console, client = _console(request), _enter(request).name
    return _json({"client": client, "limits": console.limits, "ocr": console.ocr, "formats": SUPPORTED})


@router.post("/console/picture")
async def picture(request: Request) -> Response:
    """A page of the file in the body as a picture; `X-Page`: its width and height, how many pages the file has."""
    state: AppState = request.state.app_state
    tenant = _enter(request)
    wanted = PictureRequest(_number(request, "page", 1), _number(request, "width", 1_240))
    limits = state.access.body_limits(tenant, request.headers, state.body_limits)
    data = await read_all(request, limits)
    state.access.charge(tenant, "documents", 1, time.monotonic())
    sender = sender_of(tenant.name, request.client.host if request.client else None)
    deadline = time.monotonic() + state.deadline_seconds
    sent = request.headers.get("content-type", DRAWN)
    shown = await shown_page(state.worker, data, sent, wanted, client=sender, deadline_seconds=deadline)
    headers = {"X-Page": f"{shown.width:.10g} {shown.height:.10g} {shown.pages}", "Cache-Control": "no-store"}
    return Response(shown.content, headers=headers, media_type=shown.media_type)


@router.get("/console/requests")
async def latest(request: Request) -> Response:
    """The last requests that this service answered, those of the sender's client alone where there are keys."""
    return _json(await _console(request).requests.latest(_visible(request)))


@router.get("/console/requests/{request_id:path}")
async def one(request: Request, request_id: str) -> Response:
    return _json(await _console(request).requests.find(request_id, _visible(request)))


@router.get("/console/progress/{request_id:path}")
async def progress(request: Request, request_id: str) -> Response:
    """How far a request is that is not answered yet; empty if none of this id is worked on."""
    return _json(await _console(request).requests.progress(request_id, _visible(request)))


@router.get("/console/live")
async def live(request: Request) -> Response:
    """What the engine does, as server-sent events."""
    events = _while_admitted(request, _console(request).live.watch(_visible(request)))
    return StreamingResponse(
        events, headers={**UNBUFFERED, "Cache-Control": "no-store"}, media_type="text/event-stream"
    )


async def _while_admitted(request: Request, events: AsyncGenerator[bytes, None]) -> AsyncIterator[bytes]:
    """The events until the key of their watcher is revoked."""
    state: AppState = request.state.app_state
    key = presented_key(request.headers)
    async with aclosing(events):
        async for event in events:
            try:
                state.access.keys.keys.tenant(key)
            except (Forbidden, Unauthenticated):
                return
            yield event


def _visible(request: Request) -> str | None:
    """The client whose requests the sender may see; None where there are no keys: everybody's."""
    name = _enter(request).name
    return name if _console(request).access.keyed else None


def _json(value: object) -> Response:
    return Response(msgspec.json.encode(value), headers={"Cache-Control": "no-store"}, media_type="application/json")


def _console(request: Request) -> Console:
    console: Console = request.state.console
    return console


def _enter(request: Request) -> Tenant:
    """The client whose request this is, if it may come in.

    Raises:
        Unauthenticated, Forbidden, RateLimited: it may not.
    """
    state: AppState = request.state.app_state
    _console(request).access.check()
    address = request.client.host if request.client else ""
    return state.access.enter(request.headers, address, time.monotonic())


def _number(request: Request, name: str, default: int) -> int:
    said = request.query_params.get(name, str(default))
    if not said.isdecimal() or len(said) > 6:
        raise InvalidOptions(f"{name}: must be a whole number.")
    return int(said)
