"""The SageMaker adapter: as its platform calls a container, and by boto3's `sagemaker-runtime`."""

from __future__ import annotations

import argparse
import base64
import json
from pathlib import Path
from typing import Any

from model_store.local.store import Store
from service.commands import serve
from service.commands.serve import CONTAINER_MODEL, publish_container_model
from service.settings import Settings
from tests.support.adapter_clients import FREE, POOR, run_client
from tests.support.document_files import simple_docx, simple_pdf
from tests.support.extraction import TEXT, random_texts
from tests.support.service import Service
from tests.support.tiny_models import make_model

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
FILES = {"application/pdf": simple_pdf(TEXT[:20]), DOCX: simple_docx(TEXT), "text/plain": TEXT.encode()}


def case(body: bytes, kind: str, *, key: str = FREE, **options: str) -> dict[str, Any]:
    return {"body": base64.b64encode(body).decode(), "type": kind, "key": key, "options": options}


def json_case(key: str = FREE, options: dict[str, str] | None = None, **body: Any) -> dict[str, Any]:
    return case(json.dumps(body).encode(), "application/json", key=key, **(options or {}))


def test_boto3_gets_what_extract_answers_for_json_and_files(opened: Service) -> None:
    long_text = random_texts(1, seed=7, shortest=1_500, longest=1_500)[0]
    cases = [case(data, kind) for kind, data in FILES.items()]
    cases += [json_case(text=long_text), json_case(documents=[{"text": TEXT}, {"text": TEXT}])]
    found = run_client("sagemaker", opened.url, cases)
    with opened.client() as client:
        key = {"X-API-Key": FREE}
        for (kind, data), ours in zip(FILES.items(), found, strict=False):
            theirs = client.post("/extract", content=data, headers={**key, "Content-Type": kind}).json()
            assert ours["body"]["documents"] == theirs["documents"]
            assert ours["revision"] == theirs["model"]["revision"]
    whole = found[3]["body"]["documents"][0]
    assert whole["windows"] > 1
    assert whole["entities"][-1]["end"] > 0.9 * len(long_text)
    assert len(found[4]["body"]["documents"]) == 2


def test_options_and_model_travel_in_the_headers_that_sagemaker_hands_on(opened: Service) -> None:
    attributes = {"CustomAttributes": "aggregation=simple&labels=ORG&trace=7", "TargetModel": "other"}
    asked = [attributes, {}, {"CustomAttributes": "trace-7,labels=ORG,trace=7"}, {"CustomAttributes": "labels=ORG,OGR"}]
    simple, plain, listed, mistyped = run_client(
        "sagemaker", opened.url, [case(TEXT.encode(), "text/plain", **each) for each in asked]
    )
    assert simple["body"]["model"]["name"] == "other"
    assert {each["label"] for each in simple["body"]["documents"][0]["entities"]} <= {"ORG"}
    assert plain["body"]["model"]["name"] == "tiny"
    assert {each["label"] for each in listed["body"]["documents"][0]["entities"]} <= {"ORG"}
    assert (mistyped["status"], "'OGR'" in mistyped["message"]) == (422, True)


def test_hugging_face_s_inputs_are_answered_as_its_container_does(opened: Service) -> None:
    tokens, groups = run_client(
        "sagemaker",
        opened.url,
        [json_case(inputs=TEXT), json_case(inputs=[TEXT], parameters={"aggregation_strategy": "simple"})],
    )
    assert set(tokens["body"][0]) == {"entity", "score", "index", "word", "start", "end"}
    assert set(groups["body"][0][0]) == {"entity_group", "score", "word", "start", "end"}


def test_boto3_sees_typed_errors_and_when_to_come_back(opened: Service) -> None:
    poor = json_case(key=POOR, text=TEXT)
    bad, encrypted, lines, table, unknown, nobody, _, debt = run_client(
        "sagemaker",
        opened.url,
        [
            json_case(words=TEXT),
            case(b"\x89PNG\r\n", "application/pdf"),
            case(b'{"inputs": "Jane"}\n{"inputs": "John"}\n', "application/jsonlines"),
            case(b"Jane,Berlin\nJohn,Bonn\n", "text/csv"),
            json_case(text=TEXT, options={"TargetModel": "nowhere"}),
            json_case(key="guess", text=TEXT),
            poor,
            poor,
        ],
    )
    assert (bad["status"], bad["code"]) == (422, "ValidationError")
    assert "words" in bad["message"]
    assert encrypted["code"] == "ValidationError"
    for refused in (lines, table):
        assert refused["status"] == 415
        assert "SplitType: Line" in refused["message"]
    assert (unknown["status"], unknown["code"]) == (404, "ValidationError")
    assert (nobody["status"], nobody["code"]) == (401, "AccessDeniedException")
    assert (debt["status"], debt["code"]) == (429, "ThrottlingException")
    assert int(debt["retry"]) >= 1


def test_the_container_answers_its_platform(service: Service) -> None:
    with service.client() as client:
        ping, headed = client.get("/ping"), client.head("/ping")
        answer = client.post("/invocations", json={"text": TEXT})
        form = client.post("/invocations", files={"file": ("a.txt", TEXT.encode(), "text/plain")})
    assert (ping.status_code, headed.status_code) == (200, 200)
    assert answer.json()["documents"][0]["entities"] == form.json()["documents"][0]["entities"]


def test_serve_is_the_command_of_its_container_too() -> None:
    parser = argparse.ArgumentParser()
    serve.add_arguments(parser)
    assert parser.parse_args(["serve", "--port", "8080"]).as_container == "serve"
    assert parser.parse_args([]).as_container is None


def test_a_model_in_the_container_s_folder_is_served_unless_one_is_named(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "model")
    settings = Settings(model_store=tmp_path / "store")
    assert publish_container_model(folder, settings) == CONTAINER_MODEL
    assert Store(tmp_path / "store").resolve(CONTAINER_MODEL).manifest.labels
    assert publish_container_model(tmp_path, settings) is None
    assert publish_container_model(folder, Settings(model_store=tmp_path / "store", models="documents")) is None
