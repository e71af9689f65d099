"""Every kind of JSON body: what a parser decodes is what the worker would have, to the last word of a refusal."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from service.api.adapters.comprehend_bodies import BatchRequest, EntitiesRequest, TextRequest
from service.api.adapters.gliner_bodies import Gliner2Request, GlinerRequest
from service.api.adapters.huggingface_bodies import TokenClassificationInput
from service.api.adapters.oip_bodies import InferBody
from service.api.adapters.presidio_bodies import AnalyzeRequest, AnonymizeRequest
from service.api.bodies.json_body import OPTION_BYTES
from service.api.bodies.kinds import (
    COUNTED_BYTES,
    MOST_STRINGS,
    AdapterJson,
    DocumentsJson,
    HasField,
    JsonKind,
    decode_json,
    kind_of,
)
from service.core.errors import DocumentTooLarge, GleanerError, InvalidOptions, MalformedRequest
from tests.support.json_ways import Decode, json_parser

LONG = "Grüße, 世界 😀\n" * 40_000
"""Of several pieces."""
MOST = 5
INPUTS: JsonKind[Any] = HasField("inputs")
TENSOR = {"name": "text", "datatype": "BYTES", "shape": [2, 1]}
FINDINGS = [{"entity_type": "PERSON", "start": 0, "end": number} for number in range(4_000)]
BODIES: list[tuple[JsonKind[Any], Any]] = [
    (AdapterJson(TextRequest), {"Text": LONG, "LanguageCode": "de"}),
    (AdapterJson(TextRequest), {"Text": ""}),
    (AdapterJson(EntitiesRequest), {"Text": LONG}),
    (AdapterJson(EntitiesRequest), {"Bytes": base64.b64encode(bytes(range(256)) * 3_000).decode()}),
    (AdapterJson(EntitiesRequest), {"Bytes": ""}),
    (AdapterJson(EntitiesRequest), {"Bytes": "=", "Text": "a"}),
    (AdapterJson(EntitiesRequest), {"Bytes": "QUJD", "Text": "a", "EndpointArn": "arn:x/y"}),
    (AdapterJson(EntitiesRequest), {}),
    (AdapterJson(BatchRequest), {"TextList": [LONG, "a", LONG[:70_000]]}),
    (AdapterJson(BatchRequest), {"TextList": []}),
    (AdapterJson(TokenClassificationInput), {"inputs": LONG, "parameters": {"stride": 3, "ignore_labels": ["O"]}}),
    (AdapterJson(TokenClassificationInput), {"inputs": ["", LONG, ""]}),
    (AdapterJson(TokenClassificationInput), {"inputs": [LONG, 5]}),
    (AdapterJson(TokenClassificationInput), {"inputs": [], "parameters": {"strides": 3}}),
    (AdapterJson(GlinerRequest), {"text": LONG, "labels": {"person": "a name"}, "threshold": 0.3}),
    (AdapterJson(GlinerRequest), {"text": "a", "labels": "person"}),
    (
        AdapterJson(Gliner2Request),
        {"task": "schema", "text": [LONG, ""], "schema": {"entities": {"a": {"dtype": "str"}}}},
    ),
    (AdapterJson(Gliner2Request), {"task": "extract_entities", "text": LONG, "schema": ["a"], "threshold": 2}),
    (AdapterJson(AnalyzeRequest), {"text": [LONG, "b"], "language": "en", "allow_list": ["a"]}),
    (
        AdapterJson(AnalyzeRequest),
        {"text": LONG, "ad_hoc_recognizers": [{"supported_entity": "X", "patterns": [{"regex": "a", "score": 1}]}]},
    ),
    (AdapterJson(AnalyzeRequest), {"text": LONG, "score_threshold": 2}),
    (AdapterJson(AnalyzeRequest), {"text": "a", "regex_flags": 10**30}),
    (AdapterJson(AnonymizeRequest), {"text": LONG, "analyzer_results": FINDINGS}),
    (
        AdapterJson(AnonymizeRequest),
        {"text": "a", "analyzer_results": [], "anonymizers": {"X": {"type": "mask", "masking_char": "\x00"}}},
    ),
    (
        AdapterJson(InferBody),
        {"inputs": [{**TENSOR, "data": ["a", LONG]}], "id": "7", "parameters": {"timeout": 10**30}},
    ),
    (AdapterJson(InferBody), {"inputs": [{**TENSOR, "data": [[LONG], "b", []]}], "outputs": [{"name": "entities"}]}),
    (AdapterJson(InferBody), {"inputs": [{**TENSOR, "parameters": {"binary_data_size": 5}}]}),
    (AdapterJson(InferBody), {"inputs": [TENSOR, TENSOR]}),
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
    assert kind_of(kind.reference(MOST)) == kind


@pytest.mark.parametrize(
    ("kind", "rest", "contents"),
    [
        (AdapterJson(TextRequest), b'{"Text":"-"}', []),
        (AdapterJson(TextRequest), b'{"Text":"-"}', ["a", "b"]),
        (AdapterJson(TextRequest), b'{"Text":"-"}', [b"a"]),
        (AdapterJson(TextRequest), b'{"Text":5}', ["a"]),
        (AdapterJson(TextRequest), b"", ["a"]),
        (AdapterJson(EntitiesRequest), b'{"Bytes":""}', ["a"]),
        (AdapterJson(InferBody), b'{"inputs":[]}', []),
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


class Inputs(msgspec.Struct):
    inputs: str | list[str]


def test_a_body_of_an_adapter_becomes_its_type() -> None:
    assert decode_json(b'{"inputs": ["a"], "more": 1}', Inputs, 10).inputs == ["a"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"inputs": 1}', b'{"inputs": "\xff"}', b'{"x":' + b"[" * 100_000])
def test_what_it_is_not_is_said_in_a_sentence(body: bytes) -> None:
    with pytest.raises(MalformedRequest) as caught:
        decode_json(body, Inputs, 10)
    assert 3 < len(caught.value.detail) < 300


def test_far_too_many_texts_are_refused_before_they_are_built() -> None:
    many = MOST_STRINGS + 100 + COUNTED_BYTES // 4
    for each in (b'"",', b'"a",', b'"\\\\",'):
        with pytest.raises(DocumentTooLarge):
            decode_json(b'{"inputs": [' + each * 2 * many + b'""]}', Inputs, 10)


def test_one_long_text_with_many_quotes_is_fine() -> None:
    text = '"' * (COUNTED_BYTES + MOST_STRINGS)
    assert decode_json(msgspec.json.encode({"inputs": text}), Inputs, 10).inputs == text
