"""Checks answers against /openapi.json: the schema of their route, status and media type, and no member beyond it."""

from __future__ import annotations

import json
from typing import Any

import httpx
from jsonschema_rs import Draft202012Validator

_CLOSED = "additionalProperties"


def closed(node: Any) -> Any:
    """A schema in which an object has no members but those that are described."""
    if isinstance(node, list):
        return [closed(each) for each in node]
    if not isinstance(node, dict):
        return node
    shut = {key: closed(value) for key, value in node.items()}
    return {_CLOSED: False, **shut} if isinstance(node.get("properties"), dict) and node.get("type") else shut


def problems(document: dict[str, Any], node: dict[str, Any], value: Any) -> list[str]:
    """What is wrong with a value by a schema of the document; empty if it fits."""
    schema = {**closed(node), "components": closed(document["components"])}
    found = Draft202012Validator(schema).iter_errors(value)
    return [f"{'.'.join(map(str, each.instance_path))}: {each.message}"[:300] for each in found]


def described(document: dict[str, Any], answer: httpx.Response, path: str) -> dict[str, Any]:
    """The schema of an answer: by its route, status and media type."""
    (operation,) = (each for method, each in document["paths"][path].items() if method == answer.request.method.lower())
    said = operation["responses"][str(answer.status_code)]
    if "$ref" in said:
        said = document["components"]["responses"][said["$ref"].rpartition("/")[2]]
    found: dict[str, Any] = said["content"][answer.headers["content-type"].partition(";")[0]]["schema"]
    return found


def assert_fits(document: dict[str, Any], answer: httpx.Response, path: str) -> None:
    """The answer is one that the document describes, in full."""
    schema = described(document, answer, path)
    lines = answer.headers["content-type"].startswith("application/x-ndjson")
    for value in map(json.loads, answer.text.splitlines()) if lines else [answer.json()]:
        assert not (found := problems(document, schema, value)), found
