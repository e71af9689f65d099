"""OpenAPI document of a service: its routes and those of open adapters, shared schemas and errors, keys if needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from service.api.json_schemas import Schema, components, reference, written_options
from service.api.options import ExtractOptions, Options
from service.api.problems import MEDIA_TYPE, STATUS
from service.api.redaction.schemas import RedactOptions
from service.core.errors import BY_CODE

DESCRIPTION = """Gleaner reads documents and returns their entities and fields, with exact offsets, scores, pages and
boxes. A document is a text, PDF, DOCX, HTML or Markdown file, an invoice as XML, a picture, a file of hOCR, ALTO or
Textract's JSON, or `pages`: words with their boxes from an OCR of your own. None is truncated. Scans are read where
the extra `ocr` is installed; handwriting is not. `unread_pages` and `partly_read` say what was not read.

Offsets (`start`, `end`) count code points; `offsets=utf16` counts what JavaScript's `slice` takes, `offsets=byte` bytes
of UTF-8. Boxes are in points (1/72 inch) from the top left of the page as shown, or in the unit of your own pages;
`page_sizes` has the pages' sizes.

With API keys, send `Authorization: Bearer KEY` or `X-API-Key: KEY`. After 429 and 503, ask again after the seconds of
`Retry-After`; asking again is safe."""

EXAMPLES: dict[str, Any] = msgspec.json.decode((Path(__file__).parent / "examples.json").read_bytes())
"""Examples by route: a `request` and its `answer` by the built-in model."""
FILE_TYPES = (
    "application/pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "text/html",
    "text/plain",
    "text/markdown",
)
_JSON = "application/json"
_BINARY = {"schema": {"type": "string", "format": "binary"}}
_OF_ANY_ROUTE = (400, 405, 408, 413, 414, 431, 500, 503)
"""Statuses of a head that is refused before it is routed, and of a defect."""
_REFUSED = {str(status): {"$ref": f"#/components/responses/Error{status}"} for status in sorted(set(STATUS.values()))}
_REFUSED_ANYWHERE = {str(status): _REFUSED[str(status)] for status in _OF_ANY_ROUTE}
_KEY_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
}


class ShownRoute(Protocol):
    """The documented parts of an adapter's route."""

    @property
    def method(self) -> str: ...
    @property
    def operation(self) -> dict[str, Any]: ...


def openapi_document(version: str, adapters: Mapping[str, Sequence[ShownRoute]], *, keyed: bool) -> dict[str, Any]:
    """The document; `adapters`: routes of the open ones by path. Two at one path differ in their media types."""
    paths: dict[str, Any] = {path: {method: dict(each)} for path, (method, each) in _ROUTES.items()}
    for path, shown in adapters.items():
        item = paths.setdefault(path, {})
        for route in shown:
            method = route.method.lower()
            item[method] = _merged(item[method], route.operation) if method in item else route.operation
    shared: dict[str, Any] = {"schemas": components(), "responses": _errors()}
    if keyed:
        shared["securitySchemes"] = _KEY_SCHEMES
        for item in paths.values():
            if "post" in item:
                item["post"] = {**item["post"], "security": [{name: []} for name in _KEY_SCHEMES]}
    info = {"title": "Gleaner", "version": version, "description": DESCRIPTION}
    return {"openapi": "3.1.0", "info": info, "paths": paths, "components": shared}


def _merged(one: Any, other: Any) -> Any:
    """Two operations of one path and method as one."""
    if isinstance(one, dict) and isinstance(other, dict):
        both = {name: _merged(one[name], value) for name, value in other.items() if name in one}
        return {**one, **other, **both}
    if isinstance(one, list) and isinstance(other, list):
        return [*one, *(each for each in other if each not in one)]
    return f"{one} / {other}" if isinstance(one, str) and one != other else one


def _errors() -> dict[str, Any]:
    """The errors' responses by name: one for each status, with the codes that it may have."""
    codes: dict[int, list[str]] = {}
    for code, status in STATUS.items():
        codes.setdefault(status, []).append(code)
    return {
        f"Error{status}": {
            "description": "; ".join(f"`{code}`: {BY_CODE[code].title}" for code in names),
            "content": {MEDIA_TYPE: {"schema": reference("Error"), "example": _error_example(names[0], status)}},
        }
        for status, names in codes.items()
    }


def _error_example(code: str, status: int) -> dict[str, Any]:
    title = BY_CODE[code].title
    return {"type": f"urn:gleaner:error:{code}", "title": title, "status": status, "detail": "…", "code": code}


def _example(path: str, part: str) -> dict[str, Any]:
    found = EXAMPLES.get(path, {})
    return {"example": found[part]} if part in found else {}


def _documents_in(path: str, name: str, options: type[Options], answers: dict[str, Any], **said: str) -> dict[str, Any]:
    """The operation that takes documents in every form of body, with options in its query."""
    query = [
        {
            "name": each,
            "in": "query",
            "description": schema["description"],
            "schema": {key: value for key, value in schema.items() if key not in ("description", "title")},
        }
        for each, schema in written_options(options).items()
    ]
    content = {
        _JSON: {"schema": reference(f"{name}Request"), **_example(path, "request")},
        "multipart/form-data": {"schema": reference(f"{name}Form")},
        **dict.fromkeys(FILE_TYPES, _BINARY),
    }
    return {
        "operationId": path.strip("/"),
        "tags": ["Documents"],
        **said,
        "parameters": query,
        "requestBody": {"required": True, "content": content},
        "responses": {"200": {"description": "One result a document, in their order.", "content": answers}, **_REFUSED},
    }


def _asked(path: str, summary: str, description: str, content: dict[str, Any]) -> dict[str, Any]:
    """The operation that takes nothing."""
    return {
        "operationId": path.strip("/"),
        "tags": ["Service"],
        "summary": summary,
        "description": description,
        "responses": {"200": {"description": "The answer.", "content": content}, **_REFUSED_ANYWHERE},
    }


def _json(path: str, schema: Schema) -> dict[str, Any]:
    return {_JSON: {"schema": schema, **_example(path, "answer")}}


_READY = _asked(
    "/readyz",
    "Is the service ready?",
    "200 when documents are answered; else 503, with the phase and how far it is.",
    _json("/readyz", reference("Readiness")),
)
_READY["responses"] |= {
    "503": {
        "description": "Not ready; the phase says why. Or the request was refused.",
        "content": {_JSON: {"schema": reference("Readiness")}, MEDIA_TYPE: {"schema": reference("Error")}},
    }
}
_ALIVE: Schema = {"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}}}
_ROUTES: dict[str, tuple[str, dict[str, Any]]] = {
    "/extract": (
        "post",
        _documents_in(
            "/extract",
            "Extract",
            ExtractOptions,
            {
                **_json("/extract", reference("ExtractResponse")),
                "application/x-ndjson": {"schema": reference("ExtractLine")},
            },
            summary="Documents in, entities and fields out",
            description="The body is JSON, a form with files, or the document itself, with the options in the query. "
            "With `Accept: application/x-ndjson` each document is sent when it is finished, as a line.",
        ),
    ),
    "/redact": (
        "post",
        _documents_in(
            "/redact",
            "Redact",
            RedactOptions,
            {
                **_json("/redact", reference("RedactResponse")),
                **dict.fromkeys(("application/pdf", "image/*", "text/plain"), _BINARY),
            },
            summary="Documents in, the same without their entities out",
            description="Takes the bodies of `/extract`, its options but `schema` and `fields`. A text comes back as "
            "`text`, a PDF or picture as `file` in base64; with `raw` the answer is the document itself; the header "
            "`X-Gleaner-Unread-Pages` names the pages that were not read in full (`2,5-7`).",
        ),
    ),
    "/models": (
        "get",
        _asked(
            "/models",
            "Which models are served, with which labels?",
            "Every revision that is served.",
            _json("/models", reference("Models")),
        ),
    ),
    "/livez": (
        "get",
        _asked("/livez", "Is the process alive?", "200 while the process runs.", _json("/livez", _ALIVE)),
    ),
    "/readyz": ("get", _READY),
    "/metrics": (
        "get",
        _asked(
            "/metrics",
            "Metrics for Prometheus",
            "In Prometheus's text format, or OpenMetrics.",
            {"text/plain": {"schema": {"type": "string"}}},
        ),
    ),
}
"""Method and operation by path."""
