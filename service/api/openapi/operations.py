"""OpenAPI descriptions that FastAPI cannot read off the signatures: request bodies, responses, examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from service.api.openapi import schemas
from service.api.problems import MEDIA_TYPE, STATUS
from service.core.errors import BY_CODE

_TEXT = "Invoice INV-20931 from Acme GmbH, due 12 March 2026, total EUR 1,200.00."
_ENTITY = {
    "label": "TOTAL_AMOUNT",
    "text": "EUR 1,200.00",
    "start": 59,
    "end": 71,
    "score": 0.993,
    "value": "1200.00 EUR",
    "page": None,
    "boxes": [],
    "kind": "money",
    "source": "model",
    "number": "1200.00",
    "unit": "EUR",
}
_DOCUMENT = {
    "id": "0",
    "pages": None,
    "unread_pages": [],
    "characters": len(_TEXT),
    "tokens": 21,
    "windows": 1,
    "truncated": False,
    "entities": [_ENTITY],
    "error": None,
}
_STAGES = {"parse_ms": 0.0, "tokenize_ms": 0.6, "queue_ms": 0.4, "compute_ms": 3.9, "decode_ms": 0.4, "total_ms": 5.6}
_ANSWER = {"model": {"name": "documents", "revision": "sha256:…"}, "documents": [_DOCUMENT], "timing": _STAGES}
FILE_TYPES = (
    "application/pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "text/html",
    "text/plain",
    "text/markdown",
)


class ShownRoute(Protocol):
    """A route of a door, as far as it is shown."""

    @property
    def method(self) -> str: ...
    @property
    def operation(self) -> dict[str, Any]: ...


def problem_responses(only: tuple[int, ...] = ()) -> dict[int | str, dict[str, Any]]:
    """The problem documents by status: of all errors, or of these statuses."""
    codes: dict[int, list[str]] = {}
    for code, status in STATUS.items():
        if not only or status in only:
            codes.setdefault(status, []).append(code)
    return {
        status: {
            "description": "; ".join(f"`{code}`: {BY_CODE[code].title}" for code in names),
            "content": {MEDIA_TYPE: {"schema": schemas.problem(), "example": _problem_example(names[0], status)}},
        }
        for status, names in codes.items()
    }


def _problem_example(code: str, status: int) -> dict[str, Any]:
    title = BY_CODE[code].title
    return {"type": f"urn:gleaner:error:{code}", "title": title, "status": status, "detail": "…", "code": code}


def request_bodies(json_schema: dict[str, Any], form_schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    """What a request may hold, by media type; `more`: examples of JSON beside those of every route."""
    return {
        "application/json": {
            "schema": json_schema,
            "examples": {
                "one text": {"value": {"text": _TEXT}},
                "a batch": {"value": {"documents": [{"id": "a", "text": _TEXT}], "min_score": 0.5}},
                **more,
            },
        },
        "multipart/form-data": {"schema": form_schema},
        **{name: {"schema": {"type": "string", "format": "binary"}} for name in FILE_TYPES},
    }


def query_options(options: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The options as parameters of a query."""
    return [
        {"name": name, "in": "query", "required": False, "description": schema["description"], "schema": schema}
        for name, schema in options.items()
    ]


EXTRACT: dict[str, Any] = {
    "responses": {
        200: {
            "description": "The entities of each document; with `Accept: application/x-ndjson`, a line for each.",
            "content": {"application/json": {"schema": schemas.extract_answer(), "example": _ANSWER}},
        },
        **problem_responses(),
    },
    "openapi_extra": {
        "requestBody": {
            "required": True,
            "content": request_bodies(
                schemas.json_body(), schemas.form_body(), **{"with fields": {"value": {"text": _TEXT, "fields": True}}}
            ),
        },
        "parameters": query_options(schemas.written_options()),
    },
}
_MODEL = {
    "name": "documents",
    "tag": "stable",
    "revision": "sha256:…",
    "labels": ["O", "B-INVOICE_ID", "I-INVOICE_ID"],
    "max_tokens": 512,
    "packed": True,
    "parameter_bytes": 5_900_000,
    "state": "serving",
    "place": "device",
    "problem": "",
    "path": "packed",
    "reason": "none",
    "attention": "blockwise",
    "kernels": "onednn",
    "dtype": "bfloat16",
    "calibrated": True,
}
_MODELS_ANSWER = {
    "models": [_MODEL],
    "device": "AMD EPYC 9R14, 2 threads, 7.6 GiB",
    "dtype": "bfloat16",
    "start_seconds": {"ready": 2.1},
}
_OF_ANY_ROUTE = (400, 405, 408, 413, 414, 431, 500)
"""Statuses of a head that is refused before it is routed, and of a defect."""
_REFUSED = problem_responses((*_OF_ANY_ROUTE, 503))
ROUTE: dict[str, Any] = {"responses": _REFUSED}
MODELS: dict[str, Any] = {
    "responses": {
        200: {
            "description": "Every revision that is served. `path`: what runs its batches: `fused` "
            "layers, `packed` rows through transformers' code, or `padded` ones; `reason`: why it is no "
            "faster one. `attention`: what computes it, several joined by `+`, or the model's `own`. "
            "`kernels`: what computes its linear layers: `cuda`, or on a CPU `onednn`, or in float32 `torch`. "
            "`dtype`: the format of its numbers. `calibrated`: a score is the share of such entities "
            "that is right, on documents like those that the map was fitted on.",
            "content": {"application/json": {"schema": schemas.models_answer(), "example": _MODELS_ANSWER}},
        },
        **_REFUSED,
    }
}
_PHASE = {"application/json": {"schema": schemas.ready_answer()}}
READY: dict[str, Any] = {
    "responses": {
        **_REFUSED,
        200: {"description": "Ready.", "content": _PHASE},
        503: {
            "description": f"Not ready; the phase says why. {_REFUSED[503]['description']}",
            "content": {**_REFUSED[503]["content"], **_PHASE},
        },
    }
}
_KEY_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
}


def with_doors(document: dict[str, Any], routes: Mapping[str, Sequence[ShownRoute]]) -> dict[str, Any]:
    """The OpenAPI document with the routes of the open doors; two doors at one path differ in their media types."""
    paths = dict(document["paths"])
    for path, shown in routes.items():
        item = dict(paths.get(path, {}))
        for route in shown:
            method = route.method.lower()
            item[method] = _merged(item[method], route.operation) if method in item else route.operation
        paths[path] = item
    return {**document, "paths": paths}


def _merged(one: Any, other: Any) -> Any:
    """Two operations of one path and method as one."""
    if isinstance(one, dict) and isinstance(other, dict):
        both = {name: _merged(one[name], value) for name, value in other.items() if name in one}
        return {**one, **other, **both}
    if isinstance(one, list) and isinstance(other, list):
        return [*one, *(each for each in other if each not in one)]
    return f"{one} / {other}" if isinstance(one, str) and one != other else one


def with_keys(document: dict[str, Any]) -> dict[str, Any]:
    """The OpenAPI document of a service that asks for API keys: /extract and /redact take one in either header."""
    schemes = {**document.get("components", {}), "securitySchemes": _KEY_SCHEMES}
    security: list[dict[str, list[str]]] = [{name: []} for name in _KEY_SCHEMES]
    paths = {
        path: {**found, "post": {**found["post"], "security": security}} if "post" in found else found
        for path, found in document["paths"].items()
    }
    return {**document, "components": schemes, "paths": paths}
