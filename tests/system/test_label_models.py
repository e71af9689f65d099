"""Models with free labels, served: the library's answers over HTTP, to several clients with label sets of their own."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import pytest

from model_store.local.store import Store
from model_store.transfer.publish import publish
from tests.support.document_files import simple_pdf
from tests.support.extraction import assert_problem
from tests.support.label_models import (
    HOME,
    NAMES,
    WITH_RECORDS,
    Case,
    Found,
    RecordCase,
    RecordPlaces,
    assert_found,
    assert_records,
    cases,
    record_cases,
)
from tests.support.service import Service, serving
from tests.support.tiny_models import make_model

FIXED = "fixed"
CLIENTS = 3
TEXT = "Invoice 4711 of 3 May 2024: Jane Doe owes EUR 1,250.00. "


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    home = tmp_path_factory.mktemp("labels")
    store = Store(home / "store")
    for name in NAMES:
        publish(HOME / name, name, store)
    publish(make_model(home / FIXED, "bert"), FIXED, store)
    settings = {"MODELS": ",".join([*NAMES, FIXED]), "MODEL_POLL_SECONDS": 0, "DTYPE": "float32"}
    with serving(home, ADAPTERS="presidio,huggingface", **settings) as running:
        yield running


def found_in(document: dict[str, Any]) -> Found:
    assert document["error"] is None, document
    return [(each["start"], each["end"], each["label"], each["score"]) for each in document["entities"]]


def asked(service: Service, name: str, case: Case) -> Found:
    answer = service.extract(text=case.text, model=name, **case.options)
    assert answer.status_code == 200, answer.text
    return found_in(answer.json()["documents"][0])


@pytest.mark.parametrize("name", NAMES)
def test_three_clients_with_mixed_labels_get_the_answers_of_the_library(service: Service, name: str) -> None:
    orders = random.Random(2).sample(cases(name), min(40, len(cases(name))))
    with ThreadPoolExecutor(CLIENTS) as pool:
        for case, answer in zip(orders, pool.map(lambda each: asked(service, name, each), orders), strict=True):
            assert_found(answer, case.entities)


@pytest.mark.parametrize("name", NAMES)
def test_a_request_of_many_documents_has_the_answers_of_one_each(service: Service, name: str) -> None:
    known = cases(name)
    same = [each for each in known if each.options == known[0].options]
    answer = service.extract(documents=[{"text": each.text} for each in same], model=name, **known[0].options)
    for case, document in zip(same, answer.json()["documents"], strict=True):
        assert_found(found_in(document), case.entities)


@pytest.mark.parametrize("name", NAMES)
def test_a_text_of_many_windows_is_answered_whole(service: Service, name: str) -> None:
    text = TEXT * 400
    answer = service.extract(text=text, model=name, labels=["person", "date"], min_score=0.5, include_text=True).json()
    (document,) = answer["documents"]
    places = [each[:2] for each in found_in(document)]
    assert document["windows"] > 10
    assert document["tokens"] > 5_000
    assert all(left[1] <= right[0] for left, right in pairwise(places))
    assert all(each["text"] == text[each["start"] : each["end"]] for each in document["entities"])


def records_in(document: dict[str, Any]) -> dict[str, RecordPlaces]:
    assert document["error"] is None, document
    assert document["entities"] == []
    return {
        kind: [
            (each["score"], [found_in({**document, "entities": v}) for v in each["fields"].values()]) for each in found
        ]
        for kind, found in document["records"].items()
    }


def test_clients_with_schemas_beside_labels_get_the_records_of_the_library(service: Service) -> None:
    orders = [each for pair in zip(record_cases(WITH_RECORDS), cases(WITH_RECORDS), strict=False) for each in pair]

    def ask(order: RecordCase | Case) -> None:
        if isinstance(order, Case):
            assert_found(asked(service, WITH_RECORDS, order), order.entities)
            return
        answer = service.extract(text=order.text, model=WITH_RECORDS, schema=order.schema, min_score=order.threshold)
        assert answer.status_code == 200, answer.text
        assert_records(records_in(answer.json()["documents"][0]), order.records)

    with ThreadPoolExecutor(CLIENTS) as pool:
        assert len(list(pool.map(ask, orders))) > 50


def test_values_of_records_have_kinds_pages_and_boxes(service: Service) -> None:
    schema = {"payment": ["payer", {"name": "sum", "kind": "money", "cardinality": "required_one"}]}
    with service.client() as client:
        answer = client.post(
            "/extract",
            files={"file": ("a.pdf", simple_pdf("Jane Doe owes EUR 1,250.00"))},
            data={"schema": json.dumps(schema), "model": WITH_RECORDS, "min_score": "0", "include_text": "true"},
        )
    (document,) = answer.raise_for_status().json()["documents"]
    records = document["records"]["payment"]
    assert records
    for each in records:
        assert list(each["fields"]) == ["payer", "sum"]
        (payer,), sums = each["fields"].values()
        assert payer["label"] == "payer"
        for value in (payer, *sums):
            assert value["text"] == document["text"][value["start"] : value["end"]]
            assert value["page"] == 1
            assert len(value["boxes"]) == 1
    assert {value["kind"] for each in records for value in each["fields"]["sum"]} == {"text", "money"}


def test_a_long_text_has_the_records_of_all_its_windows(service: Service) -> None:
    order = record_cases(WITH_RECORDS)[0]
    answer = service.extract(text=f"{order.text} " * 200, model=WITH_RECORDS, schema=order.schema, min_score=0.2)
    (document,) = answer.raise_for_status().json()["documents"]
    (records,) = document["records"].values()
    assert document["windows"] > 10
    firsts = [each["fields"]["number"][0]["start"] for each in records]
    assert firsts == sorted(firsts)
    assert firsts[-1] > 0.9 * document["characters"]


def test_models_say_which_find_records_and_others_refuse_a_schema(service: Service) -> None:
    models = {each["name"]: each["finds_records"] for each in service.get("/models").json()["models"]}
    assert [name for name, finds in models.items() if finds] == [WITH_RECORDS]
    schema = {"payment": ["payer"]}
    for name in (NAMES[-1], FIXED):
        assert_problem(service.extract(text=TEXT, model=name, schema=schema), 422, "invalid_options", name, "records")
    both = service.extract(text=TEXT, model=WITH_RECORDS, schema=schema, labels=["person"])
    assert_problem(both, 422, "invalid_options", "labels")


def test_labels_of_a_form_are_an_object_too(service: Service) -> None:
    labels = json.dumps({"person": "a name", "paid on": {"kind": "date", "min_score": 0.0}})
    with service.client() as client:
        answer = client.post(
            "/extract", files={"file": ("a.txt", TEXT)}, data={"labels": labels, "model": NAMES[0], "min_score": "1"}
        )
    (document,) = answer.raise_for_status().json()["documents"]
    assert {each["label"] for each in document["entities"]} == {"paid on"}


def test_values_are_read_by_kind(service: Service) -> None:
    labels = {"invoice date": "", "x": {"kind": "money"}, "person": ""}
    answer = service.extract(text=TEXT * 3, model=NAMES[0], labels=labels, min_score=0.0, overlaps="per_label").json()
    kinds: dict[str, set[str]] = {}
    for each in answer["documents"][0]["entities"]:
        kinds.setdefault(each["label"], set()).add(each["kind"])
    assert kinds["person"] == {"text"}
    assert kinds["invoice date"] <= {"text", "date"}
    assert kinds["x"] <= {"text", "money"}


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        ("free", {}, ["labels", "no labels of its own"]),
        ("free", {"labels": []}, ["labels", "empty"]),
        ("free", {"labels": ["a <<ENT>>"]}, ["labels", "<<ENT>>"]),
        ("free", {"labels": [f"l{number}" for number in range(201)]}, ["201"]),
        ("free", {"labels": ["a"], "min_score": "b:0.4"}, ["min_score", "'b'"]),
        ("free", {"labels": ["a"], "aggregation": "simple"}, ["aggregation"]),
        ("free", {"labels": ["a"], "fields": True}, ["fields"]),
        ("bi-span-modernbert", {"labels": {"a": "?!" * 150}}, ["labels", "'a'", "256 in a label"]),
        (FIXED, {"labels": {"PER": "somebody"}}, ["labels", "'PER'", "descriptions"]),
        (FIXED, {"labels": ["PERSONS"]}, ["labels", "'PERSONS'"]),
        (FIXED, {"overlaps": "nested"}, ["overlaps"]),
    ],
)
def test_what_a_model_has_no_use_for_is_refused(
    service: Service, model: str, options: dict[str, Any], words: list[str]
) -> None:
    name = NAMES[0] if model == "free" else model
    assert_problem(service.extract(text=TEXT, model=name, **options), 422, "invalid_options", *words)


def test_models_say_that_their_labels_are_free(service: Service) -> None:
    models = {each["name"]: each for each in service.get("/models").json()["models"]}
    assert {name: each["free_labels"] for name, each in models.items()} == {**dict.fromkeys(NAMES, True), FIXED: False}
    assert all(models[name]["labels"] == models[name]["entity_labels"] == [] for name in NAMES)


def test_presidio_asks_for_any_kind_of_entity(service: Service) -> None:
    asked = {"text": TEXT, "language": "en", "entities": ["PERSON", "ORDER_NUMBER"], "score_threshold": 0.0}
    with service.client() as client:
        found = client.post("/analyze", json=asked).raise_for_status().json()
        usual = client.get("/supportedentities").raise_for_status().json()
    assert found
    assert {each["entity_type"] for each in found} <= {"PERSON", "ORDER_NUMBER"}
    assert "PHONE_NUMBER" in usual


def test_a_protocol_without_labels_is_refused(service: Service) -> None:
    with service.client() as client:
        answer = client.post("/", json={"inputs": TEXT})
    assert answer.status_code == 422, answer.text
    assert "given its labels" in answer.text
