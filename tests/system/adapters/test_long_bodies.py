"""Long bodies of every protocol: answered as short ones up to the limit of JSON, refused in its form beyond."""

from __future__ import annotations

from typing import Any

import pytest

from service.api.json_body import JSON_BYTES
from tests.support.adapter_clients import FREE
from tests.support.service import Service

TEXT = "Anna Smith lives in Berlin."
PAD = "a" * 2_000_000
TENSOR = {"name": "text", "datatype": "BYTES", "shape": [1], "data": [TEXT]}
AMZ = {"X-Amz-Target": "Comprehend_20171127.DetectEntities", "Content-Type": "application/x-amz-json-1.1"}
REQUESTS: dict[str, tuple[str, dict[str, Any], dict[str, str]]] = {
    "huggingface": ("/", {"inputs": TEXT, "options": PAD}, {}),
    "sagemaker": ("/invocations", {"inputs": TEXT, "options": PAD}, {}),
    "oip": ("/v2/models/tiny/infer", {"inputs": [TENSOR], "id": PAD}, {}),
    "comprehend": ("/", {"Text": TEXT, "LanguageCode": PAD}, AMZ),
    "presidio": ("/analyze", {"text": TEXT, "language": PAD}, {}),
    "gliner": ("/gliner", {"text": TEXT, "labels": ["person"], "threshold": 0, "trace": PAD}, {}),
    "gliner2": ("/gliner-2", {"task": "extract_entities", "text": [TEXT], "schema": ["person"], "trace": PAD}, {}),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_long_body_is_answered_as_a_short_one(opened: Service, name: str) -> None:
    path, body, headers = REQUESTS[name]
    short = {key: value if value != PAD else "en" for key, value in body.items()}
    with opened.client() as client:
        answers = [
            client.post(path, json=each, headers={"X-API-Key": FREE, **headers}, timeout=120.0)
            for each in (body, short)
        ]
    assert [answer.status_code for answer in answers] == [200, 200], answers[0].text[:300]
    long, other = (answer.json() for answer in answers)
    assert (long["outputs"] == other["outputs"]) if name == "oip" else (long == other)


@pytest.mark.parametrize("name", REQUESTS)
def test_a_body_over_the_limit_is_refused_in_the_form_of_its_protocol(opened: Service, name: str) -> None:
    path, body, headers = REQUESTS[name]
    long = {key: value if value != PAD else "a" * JSON_BYTES for key, value in body.items()}
    with opened.client() as client:
        answer = client.post(path, json=long, headers={"X-API-Key": FREE, **headers}, timeout=120.0)
    assert answer.status_code == 413
    assert "A JSON body may have 16 MiB." in answer.text
