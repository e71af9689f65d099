"""Every kind of JSON body: what a parser decodes is what the worker would have, to the last word of a refusal."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from service.api.bodies.comprehend import BatchRequest, EntitiesRequest, TextRequest
from service.api.bodies.huggingface import TokenClassificationInput
from service.api.bodies.json_body import OPTION_BYTES
from service.api.bodies.kinds import DocumentsJson, DoorJson, HasInputs, JsonKind, kind_of
from service.api.bodies.oip import InferBody
from service.api.bodies.presidio import AnalyzeRequest, AnonymizeRequest
from service.core.errors import GleanerError, InvalidOptions
from tests.support.json_ways import Decode, json_parser

LONG = "Grüße, 世界 😀\n" * 40_000
"""Of several pieces."""
MOST = 5
INPUTS: JsonKind[Any] = HasInputs()
TENSOR = {"name": "text", "datatype": "BYTES", "shape": [2, 1]}
FINDINGS = [{"entity_type": "PERSON", "start": 0, "end": number} for number in range(4_000)]
BODIES: list[tuple[JsonKind[Any], Any]] = [
    (DoorJson(TextRequest), {"Text": LONG, "LanguageCode": "de"}),
    (DoorJson(TextRequest), {"Text": ""}),
    (DoorJson(EntitiesRequest), {"Text": LONG}),
    (DoorJson(EntitiesRequest), {"Bytes": base64.b64encode(bytes(range(256)) * 3_000).decode()}),
    (DoorJson(EntitiesRequest), {"Bytes": ""}),
    (DoorJson(EntitiesRequest), {"Bytes": "=", "Text": "a"}),
    (DoorJson(EntitiesRequest), {"Bytes": "QUJD", "Text": "a", "EndpointArn": "arn:x/y"}),
    (DoorJson(EntitiesRequest), {}),
    (DoorJson(BatchRequest), {"TextList": [LONG, "a", LONG[:70_000]]}),
    (DoorJson(BatchRequest), {"TextList": []}),
    (DoorJson(TokenClassificationInput), {"inputs": LONG, "parameters": {"stride": 3, "ignore_labels": ["O"]}}),
    (DoorJson(TokenClassificationInput), {"inputs": ["", LONG, ""]}),
    (DoorJson(TokenClassificationInput), {"inputs": [LONG, 5]}),
    (DoorJson(TokenClassificationInput), {"inputs": [], "parameters": {"strides": 3}}),
    (DoorJson(AnalyzeRequest), {"text": [LONG, "b"], "language": "en", "allow_list": ["a"]}),
    (
        DoorJson(AnalyzeRequest),
        {"text": LONG, "ad_hoc_recognizers": [{"supported_entity": "X", "patterns": [{"regex": "a", "score": 1}]}]},
    ),
    (DoorJson(AnalyzeRequest), {"text": LONG, "score_threshold": 2}),
    (DoorJson(AnalyzeRequest), {"text": "a", "regex_flags": 10**30}),
    (DoorJson(AnonymizeRequest), {"text": LONG, "analyzer_results": FINDINGS}),
    (
        DoorJson(AnonymizeRequest),
        {"text": "a", "analyzer_results": [], "anonymizers": {"X": {"type": "mask", "masking_char": "\x00"}}},
    ),
    (DoorJson(InferBody), {"inputs": [{**TENSOR, "data": ["a", LONG]}], "id": "7", "parameters": {"timeout": 10**30}}),
    (DoorJson(InferBody), {"inputs": [{**TENSOR, "data": [[LONG], "b", []]}], "outputs": [{"name": "entities"}]}),
    (DoorJson(InferBody), {"inputs": [{**TENSOR, "parameters": {"binary_data_size": 5}}]}),
    (DoorJson(InferBody), {"inputs": [TENSOR, TENSOR]}),
    (INPUTS, {"inputs": [LONG]}),
    (INPUTS, {"text": LONG}),
    (INPUTS, [LONG]),
    (
        DocumentsJson(("labels",)),
        {"documents": [{"text": LONG, "id": "a"}, {"text": ""}], "labels": ["A", 5, LONG[:9]]},
    ),
    (DocumentsJson(()), {"documents": [{"text": "a"}] * (MOST + 1)}),
]


@pytest.fixture(scope="module")
def decode() -> Iterator[Decode]:
    with json_parser() as found:
        yield found


def outcome(decode: Decode, kind: JsonKind[Any], body: bytes) -> Any:
    try:
        return decode(body, kind, MOST)
    except GleanerError as error:
        return type(error), error.detail


@pytest.mark.parametrize(("kind", "body"), BODIES)
def test_a_parser_s_answer_is_the_worker_s(decode: Decode, kind: JsonKind[Any], body: Any) -> None:
    for data in (json.dumps(body).encode(), json.dumps(body, ensure_ascii=False).encode(), b'{"x": ', b"\xff", b"[5]"):
        assert outcome(decode, kind, data) == outcome(lambda data, kind, most: kind.decode(data, most), kind, data)


@pytest.mark.parametrize("kind", {each: None for each, _ in BODIES})
def test_a_kind_is_found_by_what_names_it_to_another_process(kind: JsonKind[Any]) -> None:
    assert kind_of(kind.wanted(MOST)) == kind


@pytest.mark.parametrize(
    ("kind", "rest", "contents"),
    [
        (DoorJson(TextRequest), b'{"Text":"-"}', []),
        (DoorJson(TextRequest), b'{"Text":"-"}', ["a", "b"]),
        (DoorJson(TextRequest), b'{"Text":"-"}', [b"a"]),
        (DoorJson(TextRequest), b'{"Text":5}', ["a"]),
        (DoorJson(TextRequest), b"", ["a"]),
        (DoorJson(EntitiesRequest), b'{"Bytes":""}', ["a"]),
        (DoorJson(InferBody), b'{"inputs":[]}', []),
        (INPUTS, b"5", []),
        (INPUTS, b"true", ["a"]),
        (DocumentsJson(()), b'{"ids":[null],"batch":false,"options":{}}', []),
        (DocumentsJson(()), b'{"ids":[null],"batch":false,"options":{}}', [b"a"]),
        (DocumentsJson(()), b'{"ids":[5],"batch":false,"options":{}}', ["a"]),
        (DocumentsJson(()), b'{"ids":["' + b"x" * 1_025 + b'"],"batch":false,"options":{}}', ["a"]),
        (DocumentsJson(("labels",)), b'{"ids":[null],"batch":false,"options":{"model":"m"}}', ["a"]),
    ],
)
def test_parts_that_are_of_no_one_body_are_not_put_together(kind: JsonKind[Any], rest: bytes, contents: Any) -> None:
    with pytest.raises((ValueError, msgspec.MsgspecError)):
        kind.restore(rest, contents)


def test_an_option_that_is_too_long_for_one_is_not_built() -> None:
    rest = b'{"ids":[null],"batch":false,"options":{"labels":[' + b"[]," * OPTION_BYTES + b"[]]}}"
    with pytest.raises(InvalidOptions, match="labels"):
        DocumentsJson(("labels",)).restore(rest, ["a"])
