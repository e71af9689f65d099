"""The Comprehend adapter, by boto3: the four operations, files with geometry, typed errors, CBOR refused as such."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.support.adapter_clients import FREE, POOR, run_client
from tests.support.document_files import simple_pdf
from tests.support.extraction import TEXT, random_texts
from tests.support.service import Service

TYPES = {"PER": "PERSON", "ORG": "ORGANIZATION", "DATE": "DATE"}
PII = {"PER": "NAME", "DATE": "DATE_TIME"}


def case(operation: str, *, key: str = FREE, **arguments: Any) -> dict[str, Any]:
    return {"operation": operation, "key": key, "arguments": arguments}


def text_case(operation: str, text: str, *, key: str = FREE) -> dict[str, Any]:
    return case(operation, key=key, Text=text, LanguageCode="en")


def extracted(service: Service, **request: Any) -> list[dict[str, Any]]:
    with service.client() as client:
        answer = client.post("/extract", headers={"X-API-Key": FREE}, **request)
    entities: list[dict[str, Any]] = answer.json()["documents"][0]["entities"]
    return entities


def test_boto3_gets_the_entities_of_texts_of_any_length(opened: Service) -> None:
    text = random_texts(1, seed=8, shortest=1_500, longest=1_500)[0]
    entities, pii, contains, batch = run_client(
        "comprehend",
        opened.url,
        [
            text_case("detect_entities", text),
            text_case("detect_pii_entities", text),
            text_case("contains_pii_entities", text),
            case("batch_detect_entities", TextList=[TEXT, text], LanguageCode="de"),
        ],
    )
    theirs = extracted(opened, json={"text": text})
    expected = [(TYPES[e["label"]], e["text"], e["start"], e["end"]) for e in theirs]
    assert [(e["Type"], e["Text"], e["BeginOffset"], e["EndOffset"]) for e in entities["Entities"]] == expected
    assert entities["Entities"][-1]["EndOffset"] > 0.9 * len(text)
    assert entities["revision"].startswith("sha256:")
    personal = [(PII[e["label"]], e["start"], e["end"]) for e in theirs if e["label"] in PII]
    assert [(e["Type"], e["BeginOffset"], e["EndOffset"]) for e in pii["Entities"]] == personal
    assert {each["Name"] for each in contains["Labels"]} == {name for name, _, _ in personal}
    assert [each["Index"] for each in batch["ResultList"]] == [0, 1]
    assert batch["ResultList"][1]["Entities"] == entities["Entities"]
    assert batch["ErrorList"] == []


def test_a_file_has_blocks_where_its_entities_stand(opened: Service) -> None:
    file = simple_pdf("Anna Maria Smith paid the invoice in Berlin")
    (found,) = run_client(
        "comprehend", opened.url, [case("detect_entities", Bytes=base64.b64encode(file).decode(), LanguageCode="en")]
    )
    theirs = extracted(opened, content=file)
    assert found["DocumentMetadata"]["Pages"] == 1
    assert found["DocumentType"] == [{"Page": 1, "Type": "NATIVE_PDF"}]
    blocks = {block["Id"]: block for block in found["Blocks"]}
    assert theirs
    assert len(found["Entities"]) == len(theirs)
    for ours, entity in zip(found["Entities"], theirs, strict=True):
        (reference,) = ours["BlockReferences"]
        block = blocks[reference["BlockId"]]
        assert block["Text"] == entity["text"] == ours["Text"]
        left, top, right, _ = entity["boxes"][0]
        box = block["Geometry"]["BoundingBox"]
        width = left / box["Left"]
        assert box["Width"] * width == pytest.approx(right - left, abs=0.1)
        assert 500 < width < 700
        assert 0 < box["Top"] < 1
        assert top > 0


def test_boto3_raises_comprehend_s_own_errors(opened: Service) -> None:
    poor = text_case("detect_entities", TEXT, key=POOR)
    neither, image, arn, nobody, _, debt = run_client(
        "comprehend",
        opened.url,
        [
            case("detect_entities", LanguageCode="en"),
            case("detect_entities", Bytes=base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()),
            case("detect_entities", Text=TEXT, EndpointArn="arn:aws:comprehend:x:1:entity-recognizer-endpoint/none"),
            text_case("detect_entities", TEXT, key="guess"),
            poor,
            poor,
        ],
    )
    assert (neither["code"], neither["typed"]) == ("InvalidRequestException", "InvalidRequestException")
    assert image["typed"] == "InvalidRequestException"
    assert arn["typed"] == "ResourceUnavailableException"
    assert (nobody["status"], nobody["code"]) == (401, "UnrecognizedClientException")
    assert debt["code"] == "TooManyRequestsException"
    assert debt["status"] == 429
    assert int(debt["retry"]) >= 1


def test_cbor_is_refused_in_its_own_words(opened: Service) -> None:
    with opened.client() as client:
        path = "/service/Comprehend_20171127/operation/DetectEntities"
        answer = client.post(path, content=b"\xa0", headers={"smithy-protocol": "rpc-v2-cbor"})
        unknown = client.post("/", content=b"{}", headers={"X-Amz-Target": "Comprehend_20171127.DetectSyntax"})
    assert answer.status_code == 415
    assert answer.headers["smithy-protocol"] == "rpc-v2-cbor"
    assert answer.content[0] == 0xA2
    assert b"com.amazonaws.comprehend#InvalidRequestException" in answer.content
    assert unknown.json()["__type"] == "UnknownOperationException"
