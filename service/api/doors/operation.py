"""OpenAPI operations of doors, made of the schemas of their bodies, answers and errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from service.api.openapi import schemas
from service.api.problems import MEDIA_TYPE, STATUS

Schemas = Mapping[str, Mapping[str, Any]]
"""A JSON schema by media type."""
BINARY = {"type": "string", "format": "binary"}
NOTHING: Schemas = {}


def operation(
    summary: str, *, answer: Schemas, error: Schemas, body: Schemas | None = None, status: int = 200
) -> dict[str, Any]:
    """The operation of one route, whose good answer has this status.

    Errors are in the protocol's form, but for those of a head that could not be read.
    """
    errors = _content({**error, MEDIA_TYPE: schemas.problem()})
    refused = {"description": "Refused; with `Retry-After` where the same may succeed later.", "content": errors}
    described: dict[str, Any] = {
        "summary": summary,
        "responses": {
            str(status): {"description": "As the protocol has it.", "content": _content(answer)},
            **{str(each): refused for each in sorted(set(STATUS.values())) if each != status},
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


def _content(by_type: Schemas) -> dict[str, Any]:
    return {name: {"schema": dict(schema)} for name, schema in by_type.items()}
