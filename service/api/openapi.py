"""OpenAPI document: schemas, operations and examples of the routes, and the page at /docs that shows it.

Schemas are made from the types that requests are checked by and answers are written from. The page shows nothing from
another host; its one script is allowed by its digest.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import msgspec
from starlette.responses import Response

from service.api.problems import MEDIA_TYPE, STATUS, Problem
from service.api.schemas import DocumentLine, ExtractJson, ExtractResult, Options
from service.core.errors import BY_CODE
from service.core.types import Phase
from service.wire import ModelStatus

Schema = dict[str, Any]


def json_body(kind: type[Options] = ExtractJson) -> Schema:
    """The schema of a JSON body: `text` or `documents`, one of the two, with the options beside it."""
    schema = inline(kind.model_json_schema())
    properties: Schema = schema["properties"]
    for name in ("text", "documents"):
        properties[name] = _present(properties[name])
    properties["documents"]["minItems"] = 1
    return {**schema, "oneOf": [{"required": ["text"]}, {"required": ["documents"]}]}


def form_body(kind: type[Options] = Options) -> Schema:
    """The schema of a form: one or more files, with the options as fields."""
    files = {"type": "array", "minItems": 1, "items": {"type": "string", "format": "binary"}}
    return {
        "type": "object",
        "required": ["file"],
        "properties": {"file": files, **written_options(kind)},
        "additionalProperties": False,
    }


def written_options(kind: type[Options] = Options) -> dict[str, Schema]:
    """The schema of each option as text, as in a query or a form; lists are separated by commas."""
    properties: dict[str, Schema] = inline(kind.model_json_schema())["properties"]
    return {name: _present(schema, besides=("null", "array")) for name, schema in properties.items()}


def of(kind: type) -> Schema:
    """The schema of what msgspec decodes or encodes as this type."""
    return inline(msgspec.json.schema(kind))


def extract_answer() -> Schema:
    """The schema of the answer to /extract."""
    return of(ExtractResult)


def line_answer() -> Schema:
    """The schema of one document's answer by itself."""
    return of(DocumentLine)


def models_answer() -> Schema:
    """The schema of the answer to /models, which says of a model all but where it lies."""
    model = of(ModelStatus)
    del model["properties"]["folder"]
    model["required"].remove("folder")
    seconds = {"type": "object", "additionalProperties": {"type": "number"}}
    properties = {
        "models": {"type": "array", "items": model},
        "device": {"type": "string"},
        "dtype": {"type": "string"},
        "start_seconds": seconds,
    }
    return {"type": "object", "required": list(properties), "properties": properties}


def ready_answer() -> Schema:
    """The schema of the answer to /readyz, ready or not."""
    properties = {
        "phase": {"type": "string", "enum": [phase.value for phase in Phase]},
        "percent": {"type": "integer", "minimum": 0, "maximum": 100},
        "detail": {"type": "string"},
    }
    return {"type": "object", "required": list(properties), "properties": properties}


@cache
def problem() -> Schema:
    """The schema of a problem document; shared, not to be changed."""
    return of(Problem)


def _present(schema: Schema, besides: Sequence[str] = ("null",)) -> Schema:
    """The schema of a value of other types than these; without its default if it may be left out."""
    if "anyOf" not in schema:
        return schema
    kinds = [kind for kind in schema["anyOf"] if kind.get("type") not in besides]
    said = {name: schema[name] for name in ("description",) if name in schema}
    return {**(kinds[0] if len(kinds) == 1 else {"anyOf": kinds}), **said}


def inline(schema: Schema) -> Schema:
    """The schema with each `$ref` replaced by its definition, so that it stands alone."""
    definitions = schema.pop("$defs", {})

    def resolve(node: Any) -> Any:
        if isinstance(node, dict):
            name = str(node.get("$ref", "")).rpartition("/")[2]
            rest = {key: resolve(value) for key, value in node.items() if key != "$ref"}
            if kinds := rest.pop("prefixItems", None):
                rest["items"] = kinds[0]  # Of tuples here all elements are of one kind, and FastAPI knows no others.
            return {**resolve(definitions[name]), **rest} if name else rest
        return [resolve(each) for each in node] if isinstance(node, list) else node

    inlined: Schema = resolve(schema)
    return inlined


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
    "partly_read": [],
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
    """The documented parts of an adapter's route."""

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
            "content": {MEDIA_TYPE: {"schema": problem(), "example": _problem_example(names[0], status)}},
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
            "content": {"application/json": {"schema": extract_answer(), "example": _ANSWER}},
        },
        **problem_responses(),
    },
    "openapi_extra": {
        "requestBody": {
            "required": True,
            "content": request_bodies(
                json_body(), form_body(), **{"with fields": {"value": {"text": _TEXT, "fields": True}}}
            ),
        },
        "parameters": query_options(written_options()),
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
            "layers, `packed` rows through transformers' code, `padded` ones, only rows of `equal` length, or "
            "`single` ones; `reason`: why it is no faster one: `padding` or other rows of a `batch` would change "
            "its answers, its `architecture`, its `accuracy`, or it `failed`. `attention`: what computes it, "
            "several joined by `+`, or the model's `own`. "
            "`kernels`: what computes its linear layers: `cuda`, or on a CPU `onednn`, or in float32 `torch`. "
            "`dtype`: the format of its numbers. `calibrated`: a score is the share of such entities "
            "that is right, on documents like those that the map was fitted on.",
            "content": {"application/json": {"schema": models_answer(), "example": _MODELS_ANSWER}},
        },
        **_REFUSED,
    }
}
_PHASE = {"application/json": {"schema": ready_answer()}}
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


def with_adapters(document: dict[str, Any], routes: Mapping[str, Sequence[ShownRoute]]) -> dict[str, Any]:
    """The OpenAPI document with the routes of the open adapters; two at one path differ in their media types."""
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


_PAGE = (Path(__file__).parent / "docs.html").read_bytes()


def _digest(tag: bytes) -> str:
    """The CSP source of the page's one element of this name (CSP3, section 2.3.1: `hash-source`)."""
    found = re.search(rb"<%s>(.*)</%s>" % (tag, tag), _PAGE, re.DOTALL)
    assert found is not None, "the page has lost an element"
    return f"'sha256-{base64.b64encode(hashlib.sha256(found[1]).digest()).decode()}'"


CONTENT_SECURITY_POLICY = (
    f"default-src 'none'; script-src {_digest(b'script')}; style-src {_digest(b'style')}; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def docs_page() -> Response:
    """The page."""
    return Response(_PAGE, headers={"Content-Security-Policy": CONTENT_SECURITY_POLICY}, media_type="text/html")
