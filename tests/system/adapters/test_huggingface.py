"""Hugging Face adapter, by `huggingface_hub.InferenceClient`: its answers are those of transformers' own pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from transformers import AutoModelForTokenClassification, AutoTokenizer, pipeline

from tests.support.adapter_clients import FREE, POOR, run_client
from tests.support.extraction import TEXT, random_texts
from tests.support.service import Service

STRATEGIES = ("none", "simple", "first", "average", "max")
DOCUMENTS = 60


@pytest.fixture(scope="module")
def reference(home: Path) -> Any:
    model = AutoModelForTokenClassification.from_pretrained(home / "tiny")
    return pipeline("token-classification", model=model, tokenizer=AutoTokenizer.from_pretrained(home / "tiny"))


def case(text: str, *, key: str = FREE, path: str = "", **options: Any) -> dict[str, Any]:
    return {"text": text, "key": key, "path": path, "options": options}


def plain(entities: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in each.items() if name != "score"} for each in entities]


def scores(entities: list[dict[str, Any]]) -> list[float]:
    return [float(each["score"]) for each in entities]


def test_sixty_documents_give_what_the_pipeline_gives_with_every_strategy(service: Service, reference: Any) -> None:
    texts = random_texts(DOCUMENTS, seed=5)
    kinds: list[dict[str, Any]] = [{"aggregation_strategy": each} for each in STRATEGIES]
    kinds += [{"aggregation_strategy": "simple", "ignore_labels": ["PER"]}, {"ignore_labels": []}]
    cases = [case(text, path="/models/tiny", **kind) for kind in kinds for text in texts]
    found = run_client("huggingface", service.url, cases)
    assert len(found) == len(kinds) * DOCUMENTS
    for asked, ours in zip(cases, found, strict=True):
        options = {"aggregation_strategy": "simple", **asked["options"]}
        theirs = reference(asked["text"], **options)
        assert plain(ours) == plain(theirs), asked
        assert scores(ours) == pytest.approx(scores(theirs), abs=1e-4)
    assert sum(map(len, found)) > 1_000


def test_the_client_gets_entities_behind_token_512_and_errors_with_hints(opened: Service) -> None:
    long_text = random_texts(1, seed=6, shortest=1_500, longest=1_500)[0]
    poor = case(TEXT, key=POOR)
    long_found, strided, bad, contrary, unknown, nobody, _, debt = run_client(
        "huggingface",
        opened.url,
        [
            case(long_text),
            case(TEXT, aggregation_strategy="max", stride=64, path="/"),
            case(TEXT, aggregation_strategy="most"),
            case(TEXT, aggregation_strategy="none", stride=64),
            case(TEXT, path="/models/nowhere"),
            case(TEXT, key="guess"),
            poor,
            poor,
        ],
    )
    assert max(each["end"] for each in long_found) > 0.9 * len(long_text)
    assert strided
    assert bad["status"] == 400
    assert "aggregation_strategy" in bad["body"]["error"]
    assert (contrary["status"], contrary["body"]["error_type"]) == (422, "invalid_options")
    assert (unknown["status"], unknown["body"]["error_type"]) == (404, "unknown_model")
    assert (nobody["status"], nobody["body"]["error_type"]) == (401, "forbidden")
    assert (debt["status"], debt["body"]["error_type"]) == (429, "rate_limited")
    assert int(debt["retry"]) >= 1


def test_a_list_is_answered_with_lists_and_the_revision_is_in_a_header(service: Service) -> None:
    with service.client() as client:
        answer = client.post("/", json={"inputs": [TEXT, "", TEXT], "options": {"wait_for_model": True}})
        empty = client.post("/", json={"inputs": []})
        none = client.post("/", content=b"[]", headers={"Content-Type": "application/json"})
        models = client.get("/models").json()["models"]
    first, nothing, third = answer.json()
    assert first == third
    assert nothing == []
    assert answer.headers["x-gleaner-revision"] == models[0]["revision"]
    assert (empty.status_code, none.status_code) == (400, 400)
    assert set(none.json()) == {"error", "error_type"}


def test_requests_are_counted_by_route_name(service: Service) -> None:
    line = 'gleaner_requests_total{route="huggingface",status="200"}'
    before = service.metric(line)
    with service.client() as client:
        client.post("/", json={"inputs": TEXT})
    assert service.metric(line) == before + 1
