"""OpenAPI operations of doors, made of the schemas of their bodies, answers and errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schemas = Mapping[str, Mapping[str, Any]]
"""A JSON schema by media type."""
BINARY = {"type": "string", "format": "binary"}


def operation(summary: str, *, answer: Schemas, error: Schemas, body: Schemas | None = None) -> dict[str, Any]:
    """The operation of one route."""
    described: dict[str, Any] = {
        "summary": summary,
        "responses": {
            "200": {"description": "As the protocol has it.", "content": _content(answer)},
            "default": {"description": "Refused, with `Retry-After` where that helps.", "content": _content(error)},
        },
    }
    if body is not None:
        described["requestBody"] = {"required": True, "content": _content(body)}
    return described


def with_parameters(described: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The operation of a path with these parameters."""
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}} for name in names
    ]
    return {**described, "parameters": parameters}


def _content(schemas: Schemas) -> dict[str, Any]:
    return {name: {"schema": dict(schema)} for name, schema in schemas.items()}
