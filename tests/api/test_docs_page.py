"""The page of an OpenAPI document: types that contain themselves, texts that are no markup, the service's address."""

from __future__ import annotations

from typing import Any

import pytest

from service.api.docs_page import docs_page, rendered_docs

TREE = {"type": "object", "properties": {"below": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}}}
PAIR = {"type": "object", "properties": {"other": {"$ref": "#/components/schemas/Riap"}}}
RIAP = {"type": "object", "properties": {"other": {"anyOf": [{"$ref": "#/components/schemas/Pair"}, {"type": "null"}]}}}
VALUE = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/components/schemas/Value"}}]}
SCHEMAS = {"Tree": TREE, "Pair": PAIR, "Riap": RIAP, "Value": VALUE, "Plain": {"type": "object", "properties": {}}}


def page(name: str, summary: str = "One") -> str:
    """The page of one route that answers with this type."""
    answer = {"schema": {"$ref": f"#/components/schemas/{name}"}}
    responses = {"200": {"description": "So.", "content": {"application/json": answer}}}
    operation: dict[str, Any] = {"tags": ["Only"], "summary": summary, "responses": responses}
    info = {"title": "T", "version": "1", "description": "D"}
    components = {"schemas": SCHEMAS, "responses": {}}
    return rendered_docs({"info": info, "paths": {"/one": {"get": operation}}, "components": components})


@pytest.mark.parametrize(("name", "tables"), [("Tree", 1), ("Pair", 2), ("Riap", 2), ("Value", 0), ("Plain", 1)])
def test_a_type_that_contains_itself_is_shown_once(name: str, tables: int) -> None:
    routes = page(name).partition('<h2 id="errors">')[0]
    assert routes.count("<table>") == tables
    assert "$ref" not in routes


@pytest.mark.parametrize(
    ("summary", "shown"),
    [
        ("`a<b` & c", "<code>a&lt;b</code> &amp; c"),
        ("<script>x</script>", "&lt;script&gt;x&lt;/script&gt;"),
        ("plain", "plain"),
    ],
)
def test_a_text_is_never_markup(summary: str, shown: str) -> None:
    assert f'<p class="summary">{shown}</p>' in page("Plain", summary)


@pytest.mark.parametrize("origin", ["http://127.0.0.1:9000/", "https://example.test", 'http://"><script>/'])
def test_requests_go_to_the_address_that_was_asked(origin: str) -> None:
    body = bytes(docs_page(page("Plain"), origin).body).decode()
    assert "origin.invalid" not in body
    assert "<script" not in body
    if '"' not in origin:
        assert f"curl {origin.rstrip('/')}/one" in body
