"""What OpenAPI shows: every option in every shape, every status, and examples that are what they claim."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import msgspec
import pytest
from fastapi import FastAPI

from service.api.openapi import EXTRACT, MODELS
from service.api.problems import MEDIA_TYPE, STATUS
from service.api.routes import router
from service.api.schemas import ExtractJson, ExtractResult, Options
from service.core.errors import BY_CODE
from service.engine.encoder.cpu_linear import Kernels
from service.wire import ModelStatus


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


@pytest.mark.parametrize("labels", [["DATE"], "DATE, MONEY", None])
def test_labels_may_be_a_list_or_one_text(operation: dict[str, Any], labels: object) -> None:
    schema = bodies(operation)["application/json"]["schema"]
    assert jsonschema_rs.is_valid(schema, {"text": "a", "labels": labels})
    assert ExtractJson.model_validate({"text": "a", "labels": labels}).labels in (["DATE"], ["DATE", "MONEY"], None)
    assert not jsonschema_rs.is_valid(schema, {"text": "a", "labels": [1]})


def test_an_option_that_may_be_written_in_two_ways_shows_both(operation: dict[str, Any]) -> None:
    for schema in (
        bodies(operation)["multipart/form-data"]["schema"]["properties"]["min_score"],
        next(each["schema"] for each in operation["parameters"] if each["name"] == "min_score"),
    ):
        for score in (0.5, "PERSON:0.8,IBAN:0.5"):
            assert jsonschema_rs.is_valid(schema, score)


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


def test_the_example_of_a_model_has_every_field_that_is_shown() -> None:
    example = MODELS["responses"][200]["content"]["application/json"]["example"]["models"][0]
    model = msgspec.convert({**example, "folder": ""}, ModelStatus)
    shown = {name: value for name, value in msgspec.to_builtins(model).items() if name != "folder"}
    assert {**shown, "labels": list(model.labels)} == example
    assert example["kernels"] in set(Kernels)


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
