"""Page at /docs: Swagger UI over /openapi.json; its files come with the package `fastapi-offline`, not from a network.

The page works under a Content-Security-Policy without exceptions: own scripts and styles alone, no inline ones.
"""

from __future__ import annotations

from importlib import resources

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

_POLICY = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Gleaner: API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
<noscript>This page needs scripts; the API is described in openapi.json, too.</noscript>
<main id="docs"></main>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
"""
_START = 'SwaggerUIBundle({url: "openapi.json", dom_id: "#docs", deepLinking: true});\n'
_FILES = {"swagger-ui.css": "text/css", "swagger-ui-bundle.js": "text/javascript"}
_DAY = {"Cache-Control": "max-age=86400"}


async def _page(_request: Request) -> Response:
    return HTMLResponse(_PAGE, headers=_POLICY)


async def _start(_request: Request) -> Response:
    return Response(_START, headers=_DAY, media_type="text/javascript")


def _file(name: str, media_type: str) -> Route:
    async def answer(_request: Request) -> Response:
        data = resources.files("fastapi_offline").joinpath("static", name).read_bytes()
        return Response(data, headers=_DAY, media_type=media_type)

    return Route(f"/docs/{name}", answer)


ROUTES = [
    Route("/docs", _page),
    Route("/docs/start.js", _start),
    *(_file(name, media_type) for name, media_type in _FILES.items()),
]
