"""OpenAPI descriptions that FastAPI cannot read off the signatures: request bodies, responses, examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from service.api.openapi import schemas
from service.api.problems import MEDIA_TYPE, STATUS
from service.core.errors import BY_CODE

_TEXT = "Invoice INV-20931 from Acme GmbH, due 12 March 2026, total EUR 1,200.00."
_ENTITY = {
    "label": "INVOICE_ID",
    "text": "INV-20931",
    "start": 8,
    "end": 17,
    "score": 0.993,
    "value": "INV-20931",
    "page": None,
    "boxes": [],
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
_FILE_TYPES = (
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


def _problem_responses(only: tuple[int, ...] = ()) -> dict[int | str, dict[str, Any]]:
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


_BODIES = {
    "application/json": {
        "schema": schemas.json_body(),
        "examples": {
            "one text": {"value": {"text": _TEXT}},
            "a batch": {"value": {"documents": [{"id": "a", "text": _TEXT}], "min_score": 0.5}},
        },
    },
    "multipart/form-data": {"schema": schemas.form_body()},
    **{name: {"schema": {"type": "string", "format": "binary"}} for name in _FILE_TYPES},
}
_QUERY = [
    {"name": name, "in": "query", "required": False, "description": schema["description"], "schema": schema}
    for name, schema in schemas.written_options().items()
]
_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A text of the client's choice, new for each request. Sent again with the same request it gets the "
    "same answer (header `Idempotent-Replayed: true`), for which nothing is computed.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]*[!-~][ -~]*$"},
}

EXTRACT: dict[str, Any] = {
    "responses": {
        200: {
            "description": "The entities of each document; with `Accept: application/x-ndjson`, a line for each.",
            "content": {"application/json": {"schema": schemas.extract_answer(), "example": _ANSWER}},
        },
        **_problem_responses(),
    },
    "openapi_extra": {"requestBody": {"required": True, "content": _BODIES}, "parameters": [*_QUERY, _KEY]},
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
    "kernels": "onednn",
}
_MODELS_ANSWER = {
    "models": [_MODEL],
    "device": "AMD EPYC 9R14, 2 threads, 7.6 GiB",
    "dtype": "bfloat16",
    "start_seconds": {"ready": 2.1},
}
MODELS: dict[str, Any] = {
    "responses": {
        200: {
            "description": "Every revision that is served. `kernels`: what computes its linear layers: `cuda`, "
            "or on a CPU `native` (compiled with the service), `onednn`, or in float32 `torch`.",
            "content": {"application/json": {"schema": schemas.models_answer(), "example": _MODELS_ANSWER}},
        }
    }
}
_OF_ANY_ROUTE = (400, 405, 408, 413, 414, 431, 500)
"""Statuses of a head that is refused before it is routed, and of a defect."""
ROUTE: dict[str, Any] = {"responses": _problem_responses((*_OF_ANY_ROUTE, 503))}
MODELS["responses"].update(ROUTE["responses"])
READY: dict[str, Any] = {
    "responses": {
        200: {"description": "Ready.", "content": {"application/json": {"schema": schemas.ready_answer()}}},
        **_problem_responses((*_OF_ANY_ROUTE, 503)),
    }
}
_not_ready = READY["responses"][503]
_not_ready["description"] = f"Not ready; the phase says why. {_not_ready['description']}"
_not_ready["content"]["application/json"] = {"schema": schemas.ready_answer()}
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
    """The OpenAPI document of a service that asks for API keys: what is posted has one in either header."""
    schemes = {**document.get("components", {}), "securitySchemes": _KEY_SCHEMES}
    either: list[dict[str, list[str]]] = [{name: []} for name in _KEY_SCHEMES]
    paths = {
        path: {**item, "post": {**item["post"], "security": either}} if "post" in item else item
        for path, item in document["paths"].items()
    }
    return {**document, "components": schemes, "paths": paths}
