"""What OpenAPI shows: every route, option and status, named schemas, and examples that are what they claim."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from service.api.adapters.registry import open_adapters
from service.api.openapi import EXAMPLES, FILE_TYPES, openapi_document
from service.api.options import ExtractJson, ExtractOptions, Options, option_names
from service.api.problems import MEDIA_TYPE, STATUS
from service.api.redaction.schemas import RedactOptions
from service.api.routes import router
from service.core.errors import BY_CODE
from service.documents.limits import DocumentLimits
from service.documents.placed_pages import read_placed_pages
from service.signals.routes import ADAPTERS
from tests.support.openapi_answers import problems

NAMES = "ExtractRequest ExtractResponse ExtractedDocument Entity Box PageSize Field Fields LineItem Error RedactRequest"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """/openapi.json with all adapters."""
    return openapi_document("1", open_adapters(ADAPTERS).operations(), keyed=False)


@pytest.fixture(scope="module")
def schemas(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["components"]["schemas"]
    return found


def test_every_route_is_described(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    plain = openapi_document("1", {}, keyed=False)["paths"]
    assert set(plain) == {route.path for route in router.routes}  # type: ignore[attr-defined]
    assert len(document["paths"]) > len(plain)


@pytest.mark.parametrize("name", NAMES.split())
def test_a_schema_has_the_name_that_people_expect(schemas: dict[str, Any], name: str) -> None:
    assert schemas[name]["type"] in ("object", "array")
    assert schemas[name]["description"]


def test_every_reference_leads_somewhere_and_every_schema_is_used(document: dict[str, Any]) -> None:
    text = json.dumps(document)
    for kind in ("schemas", "responses"):
        for name in document["components"][kind]:
            assert f'"#/components/{kind}/{name}"' in text, name
    for part in text.split('"#/components/')[1:]:
        kind, name = part.partition('"')[0].split("/")
        assert name in document["components"][kind]


def test_the_example_of_a_page_is_one(schemas: dict[str, Any]) -> None:
    (page,) = schemas["InputPage"]["examples"]
    assert read_placed_pages(msgspec.Raw(msgspec.json.encode([page])), DocumentLimits()).text == "Jane Doe"


@pytest.mark.parametrize(
    ("path", "name", "kind"), [("/extract", "Extract", ExtractOptions), ("/redact", "Redact", RedactOptions)]
)
def test_every_option_is_described_in_every_form(
    document: dict[str, Any], schemas: dict[str, Any], path: str, name: str, kind: type[Options]
) -> None:
    options = set(option_names(kind))
    query = document["paths"][path]["post"]["parameters"]
    assert options == {each["name"] for each in query if each["in"] == "query" and each["description"]}
    for body, more in ((f"{name}Request", {"text", "pages", "documents"}), (f"{name}Form", {"file"})):
        properties = schemas[body]["properties"]
        assert set(properties) == options | more
        assert all("default" not in each for each in properties.values()), "types would call them required"
    assert {each["name"] for each in query if "default" in each["schema"]} >= {"offsets", "overlaps", "priority"}


def test_every_format_that_is_read_may_be_a_raw_body(document: dict[str, Any]) -> None:
    bodies = set(document["paths"]["/extract"]["post"]["requestBody"]["content"])
    assert bodies == {*FILE_TYPES, "application/json", "multipart/form-data"}


def test_every_status_lists_its_codes(document: dict[str, Any], schemas: dict[str, Any]) -> None:
    for code, status in STATUS.items():
        described = document["components"]["responses"][f"Error{status}"]
        assert f"`{code}`" in described["description"]
        example = described["content"][MEDIA_TYPE]["example"]
        assert (example["status"], STATUS[example["code"]]) == (status, status)
        assert example["title"] == BY_CODE[example["code"]].title
        assert problems(document, schemas["Error"], example) == []
    assert schemas["ErrorCode"]["enum"] == [*STATUS]


def test_an_example_fits_its_schema(document: dict[str, Any]) -> None:
    shown = set()
    for path, methods in document["paths"].items():
        for operation in methods.values():
            contents = [operation.get("requestBody", {}), operation["responses"].get("200", {})]
            for content in (each for part in contents for each in part.get("content", {}).values()):
                if "example" in content:
                    shown.add(path)
                    assert problems(document, content["schema"], content["example"]) == []
    assert shown == set(EXAMPLES) == {"/extract", "/redact", "/models", "/livez", "/readyz"}


def test_the_example_has_right_offsets() -> None:
    request, answer = EXAMPLES["/extract"]["request"], EXAMPLES["/extract"]["answer"]
    ExtractJson.model_validate(request)
    (found,) = answer["documents"]
    assert found["characters"] == len(request["text"])
    for entity in found["entities"]:
        assert request["text"][entity["start"] : entity["end"]] == entity["text"]


@pytest.mark.parametrize("keyed", [True, False])
def test_keys_are_described_where_they_are_asked_for(keyed: bool) -> None:
    document = openapi_document("1", {}, keyed=keyed)
    assert ("securitySchemes" in document["components"]) == keyed
    security = document["paths"]["/extract"]["post"].get("security")
    assert security == ([{"bearer": []}, {"header": []}] if keyed else None)
    assert "security" not in document["paths"]["/livez"]["get"]
