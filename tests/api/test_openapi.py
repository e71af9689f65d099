"""What OpenAPI shows: every option in every shape, every status, and examples that are what they claim."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from fastapi import FastAPI

from service.api.openapi import EXTRACT
from service.api.problems import MEDIA_TYPE, STATUS
from service.api.routes import router
from service.api.schemas import ExtractJson, ExtractResult, Options
from service.core.errors import BY_CODE


@pytest.fixture(scope="module")
def operation() -> dict[str, Any]:
    """The operation POST /extract in /openapi.json."""
    app = FastAPI()
    app.include_router(router)
    found: dict[str, Any] = app.openapi()["paths"]["/extract"]["post"]
    return found


def bodies(operation: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = operation["requestBody"]["content"]
    return found


def test_every_option_is_described_in_json_in_forms_and_in_queries(operation: dict[str, Any]) -> None:
    options = set(Options.model_fields)
    assert options <= set(bodies(operation)["application/json"]["schema"]["properties"])
    assert options <= set(bodies(operation)["multipart/form-data"]["schema"]["properties"])
    assert options == {each["name"] for each in operation["parameters"] if each["in"] == "query"}
    assert not [each for each in operation["parameters"] if each["in"] == "header"]
    assert all(each["description"] for each in operation["parameters"])


def test_every_format_that_is_read_may_be_a_raw_body(operation: dict[str, Any]) -> None:
    raw = set(bodies(operation)) - {"application/json", "multipart/form-data"}
    assert {"application/pdf", "text/html", "text/plain", "text/markdown"} <= raw
    assert any("wordprocessingml" in each for each in raw)


def test_every_status_lists_its_codes(operation: dict[str, Any]) -> None:
    for code, status in STATUS.items():
        described = operation["responses"][str(status)]
        assert f"`{code}`" in described["description"]
        example = described["content"][MEDIA_TYPE]["example"]
        assert (example["status"], STATUS[example["code"]]) == (status, status)
        assert example["title"] == BY_CODE[example["code"]].title


def test_the_example_requests_are_accepted(operation: dict[str, Any]) -> None:
    for example in bodies(operation)["application/json"]["examples"].values():
        ExtractJson.model_validate(example["value"])


def test_the_example_answer_has_all_fields_and_right_offsets(operation: dict[str, Any]) -> None:
    example = EXTRACT["responses"][200]["content"]["application/json"]["example"]
    answer = msgspec.convert(example, ExtractResult)
    assert msgspec.to_builtins(answer) == example
    text = bodies(operation)["application/json"]["examples"]["one text"]["value"]["text"]
    document = answer.documents[0]
    assert document.characters == len(text)
    assert [text[entity.start : entity.end] for entity in document.entities] == [e.text for e in document.entities]


def test_the_schema_stands_alone() -> None:
    """OpenAPI's references point into the document; ours are put in place, since nothing else defines them."""
    assert "$ref" not in str(EXTRACT)
    assert "$defs" not in str(EXTRACT)


def test_the_whole_document_is_openapi_3_and_names_every_route() -> None:
    app = FastAPI(title="t", version="1")
    app.include_router(router)
    document = app.openapi()
    assert document["openapi"].startswith("3.")
    assert set(document["paths"]) == {"/extract", "/redact", "/livez", "/readyz", "/models", "/metrics"}
    for path in ("/extract", "/redact", "/livez", "/readyz", "/models"):
        (operation,) = document["paths"][path].values()
        assert operation["responses"]["200"]["content"]["application/json"]["schema"]["type"] == "object", path
