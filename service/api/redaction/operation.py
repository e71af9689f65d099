"""The OpenAPI description of /redact."""

from __future__ import annotations

from typing import Any

from service.api import openapi
from service.api.openapi import problem_responses, query_options, request_bodies
from service.api.redaction.schemas import RedactJson, RedactOptions, RedactResult

_TEXT = "Invoice INV-20931 from <SUPPLIER_NAME>."
_ENTITY = {
    "label": "SUPPLIER_NAME",
    "start": 23,
    "end": 32,
    "new_start": 23,
    "new_end": 38,
    "replacement": "<SUPPLIER_NAME>",
    "score": 0.969,
    "page": None,
    "boxes": [],
}
_DOCUMENT = {
    "id": "0",
    "characters": 33,
    "tokens": 12,
    "entities": [_ENTITY],
    "text": _TEXT,
    "file": None,
    "pages": None,
    "rasterized_pages": [],
    "unread_pages": [],
    "removed": [],
    "error": None,
}
_ANSWER = {
    "model": {"name": "documents", "revision": "sha256:…"},
    "documents": [_DOCUMENT],
    "timing": {"parse_ms": 0.0, "tokenize_ms": 0.6, "compute_ms": 3.9, "redact_ms": 0.2, "total_ms": 5.6},
}
_BINARY = {"schema": {"type": "string", "format": "binary"}}

REDACT: dict[str, Any] = {
    "responses": {
        200: {
            "description": "Each document without its entities: a text, or a PDF in base64; with `raw`, the one "
            "document itself.",
            "content": {
                "application/json": {"schema": openapi.of(RedactResult), "example": _ANSWER},
                "application/pdf": _BINARY,
                "text/plain": _BINARY,
            },
        },
        **problem_responses(),
    },
    "openapi_extra": {
        "requestBody": {
            "required": True,
            "content": request_bodies(openapi.json_body(RedactJson), openapi.form_body(RedactOptions)),
        },
        "parameters": query_options(openapi.written_options(RedactOptions)),
    },
}
