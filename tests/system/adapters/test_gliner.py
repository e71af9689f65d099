"""GLiNER's adapters, by the unmodified clients of `gliner` and `gliner2`: what the libraries themselves answer."""

from __future__ import annotations

from typing import Any

import pytest

from service.core.decoding.spans import Overlaps
from tests.support.adapter_clients import FREE, POOR, run_client
from tests.support.label_models import Found, assert_found, assert_records, cases, record_cases
from tests.support.service import Service
from tests.system.adapters.conftest import LABEL_MODELS

TEXT = "Jane Doe paid Acme 5 EUR. Jane Doe left."
FLAGS: dict[Overlaps, dict[str, Any]] = {
    Overlaps.FLAT: {},
    Overlaps.NESTED: {"flat_ner": False},
    Overlaps.FLAT_MULTI_LABEL: {"multi_label": True},
    Overlaps.NESTED_MULTI_LABEL: {"flat_ner": False, "multi_label": True},
}


def predict(text: Any, labels: Any, *, key: str = FREE, model: str = "free", **options: Any) -> dict[str, Any]:
    return {"text": text, "labels": labels, "options": options, "key": key, "model": model}


def call(method: str, /, *, key: str = FREE, model: str = "free2", **more: Any) -> dict[str, Any]:
    return {"call": method, "key": key, "model": model, **more}


def ask(service: Service, name: str, *asked: dict[str, Any]) -> list[Any]:
    found: list[Any] = run_client(name, service.url, asked)
    return found


@pytest.mark.parametrize("overlaps", FLAGS)
def test_gliner_s_client_gets_what_the_library_answers(opened: Service, overlaps: Overlaps) -> None:
    known = [each for each in cases(LABEL_MODELS["free"]) if each.overlaps is overlaps]
    asked = [predict(each.text, each.labels, threshold=each.threshold, **FLAGS[overlaps]) for each in known]
    for answer, case in zip(ask(opened, "gliner", *asked), known, strict=True):
        assert_found([(e["start"], e["end"], e["label"], e["score"]) for e in answer["entities"]], case.entities)
        assert all(case.text[e["start"] : e["end"]] == e["text"] for e in answer["entities"])


def test_gliner_s_client_sends_lists_of_texts_and_need_name_no_model(opened: Service) -> None:
    texts = [TEXT, "", TEXT * 300]
    each_its_own = [["person"], ["sum"], ["date"]]
    one = predict(texts, ["person", "sum"], threshold=0.0)
    found, unnamed, own = ask(opened, "gliner", one, {**one, "model": None}, predict(texts, each_its_own, threshold=0))
    assert found == unnamed
    assert found[1] == {"entities": []}
    assert found[2]["entities"][-1]["end"] > 0.9 * len(texts[2])
    assert [{e["label"] for e in each["entities"]} for each in own] == [{"person"}, set(), {"date"}]


def test_what_gliner_s_server_does_and_this_does_not_is_refused_by_name(opened: Service) -> None:
    poor = predict(TEXT, ["person"], key=POOR)
    relations, adapter, labels, bad, model, fixed, nobody, _, debt = ask(
        opened,
        "gliner",
        predict(TEXT, ["person"], relations=["owes"]),
        predict(TEXT, ["person"], adapter_id="a"),
        predict(TEXT, ["<<ENT>>"]),
        predict(TEXT, ["person"], threshold=2),
        predict(TEXT, ["person"], model="none"),
        predict(TEXT, ["person"], model="tiny"),
        predict(TEXT, ["person"], key="guess"),
        poor,
        poor,
    )
    assert [each["status"] for each in (relations, adapter, labels, bad, model, fixed, nobody, debt)] == [
        *(422, 422, 422, 400, 404, 422, 401, 429)
    ]
    assert relations["body"] == {"error": "relations: there are none here; entities alone are found."}
    assert "'person'" in fixed["body"]["error"]
    assert int(debt["retry"]) >= 1


def test_a_model_with_labels_of_its_own_answers_for_those(opened: Service) -> None:
    (found,) = ask(opened, "gliner", predict(TEXT, ["PER"], model="tiny", threshold=0.0, multi_label=True))
    with opened.client() as client:
        usual = client.post("/extract", json={"text": TEXT, "labels": ["PER"]}, headers={"X-API-Key": FREE}).json()
    wanted = [(e["start"], e["end"], e["label"]) for e in usual["documents"][0]["entities"]]
    assert [(e["start"], e["end"], e["label"]) for e in found["entities"]] == wanted != []


def placed(answer: dict[str, Any]) -> Found:
    entities = [
        (each["start"], each["end"], label, each["confidence"])
        for label, found in answer["entities"].items()
        for each in found
    ]
    return sorted(entities, key=lambda each: (each[0], -each[3]))


def test_gliner2_s_client_gets_what_the_library_answers(opened: Service) -> None:
    known = [each for each in cases(LABEL_MODELS["free2"]) if isinstance(each.labels, list)]
    sure = {"include_confidence": True, "include_spans": True}
    asked = [
        call(
            "extract_entities",
            arguments={"text": each.text, "entity_types": each.labels, "threshold": each.threshold, **sure},
        )
        for each in known
    ]
    for answer, case in zip(ask(opened, "gliner2", *asked), known, strict=True):
        assert list(answer["entities"]) == case.labels
        assert_found(placed(answer), case.entities)


def test_gliner2_s_schema_has_descriptions_and_limits_of_each_label(opened: Service) -> None:
    case = next(each for each in cases(LABEL_MODELS["free2"]) if isinstance(each.labels, dict) and each.entities)
    assert isinstance(case.labels, dict)
    sure = {"include_confidence": True, "include_spans": True}
    texts = {"texts": [case.text, TEXT], "threshold": case.threshold}
    strict = {name: {"description": said, "threshold": 1.0} for name, said in case.labels.items()}
    found, none, raw = ask(
        opened,
        "gliner2",
        call("batch_extract", arguments={**texts, **sure}, build={"entities": {"entity_types": case.labels}}),
        call("batch_extract", arguments=texts, build={"entities": {"entity_types": strict, "dtype": "str"}}),
        call("batch_extract_entities", arguments={**texts, "entity_types": ["person"], "format_results": False}),
    )
    assert_found(placed(found[0]), case.entities)
    assert [each["entities"] for each in none] == [dict.fromkeys(strict)] * 2
    assert all(list(each["entities"][0]) == ["person"] for each in raw)


def test_gliner2_s_texts_come_once_and_the_surest_first(opened: Service) -> None:
    arguments = {"text": TEXT * 2, "entity_types": ["person"], "threshold": 0.0}
    placed_too = {**arguments, "include_confidence": True, "include_spans": True}
    one = {"entities": {"entity_types": "person", "dtype": "str", "threshold": 0.0}}
    texts, spans, scores, best = ask(
        opened,
        "gliner2",
        call("extract_entities", arguments=arguments),
        call("extract_entities", arguments=placed_too),
        call("extract_entities", arguments={**arguments, "include_confidence": True}),
        call("extract", arguments={"text": TEXT * 2}, build=one),
    )
    sure = [each["confidence"] for each in spans["entities"]["person"]]
    assert sure == sorted(sure, reverse=True)
    unique = list(dict.fromkeys(each["text"].lower() for each in spans["entities"]["person"]))
    assert [each.lower() for each in texts["entities"]["person"]] == unique
    assert [each["text"].lower() for each in scores["entities"]["person"]] == unique
    assert best["entities"]["person"] == texts["entities"]["person"][0]


def spelled(field: str | dict[str, Any]) -> str:
    """A field of our schema as GLiNER2's API has it."""
    if isinstance(field, str):
        return field
    kind = "str" if field.get("cardinality") == "required_one" else "list"
    return "::".join([field["name"], kind, *([field["description"]] if "description" in field else [])])


def test_gliner2_s_client_gets_the_records_of_the_library(opened: Service) -> None:
    known = record_cases(LABEL_MODELS["free2"])
    known = [each for each in known if each.schema == known[0].schema]
    structures = {kind: [*map(spelled, fields)] for kind, fields in known[0].schema.items()}
    asked = {"texts": [each.text for each in known], "structures": structures, "threshold": known[0].threshold}
    sure = {"include_confidence": True, "include_spans": True}
    placed_too, texts = ask(
        opened,
        "gliner2",
        call("batch_extract_json", arguments={**asked, **sure}),
        call("batch_extract_json", arguments=asked),
    )
    for answer, short, case in zip(placed_too, texts, known, strict=True):
        assert list(answer) == list(short) == [kind for kind, found in case.records.items() if found]
        for kind, wanted in case.records.items():
            found = [(each.pop("confidence"), record_places(each)) for each in answer.get(kind, [])]
            assert_records({kind: found}, {kind: wanted})
            for each, (_, fields) in zip(short.get(kind, []), wanted, strict=True):
                firsts = {case.text[a:b].lower() for a, b, *_ in fields[0]}
                assert {value.lower() for value in each["number"]} == firsts


def record_places(record: dict[str, Any]) -> list[Found]:
    return [
        sorted((each["start"], each["end"], name, each["confidence"]) for each in values)
        for name, values in record.items()
    ]


def test_gliner2_s_structures_have_one_value_or_several(opened: Service) -> None:
    def build(**more: Any) -> list[list[Any]]:
        return [["structure", {"name": "debt"}], ["field", {"name": "debtor"}], ["field", {"name": "sum", **more}]]

    one, strict, choices, both, wrong = ask(
        opened,
        "gliner2",
        call("extract", arguments={"text": TEXT, "threshold": 0.2}, build=build(dtype="str", description="how much")),
        call("extract", arguments={"text": TEXT, "threshold": 0.2}, build=build(threshold=1.0)),
        call("extract", arguments={"text": TEXT}, build=build(choices=["a", "b"])),
        call("extract", arguments={"text": TEXT}, build=[["entities", {"entity_types": ["a"]}], *build()]),
        call("extract_json", arguments={"text": TEXT, "structures": {"debt": [{"dtype": "str"}]}}),
    )
    assert one["debt"]
    assert all(isinstance(each["sum"], str) and isinstance(each["debtor"], list) for each in one["debt"])
    assert all(each["sum"] == [] for each in strict["debt"])
    assert [each["body"]["code"] for each in (choices, both, wrong)] == ["invalid_options"] * 3
    assert ("choices" in choices["body"]["detail"], "entities" in both["body"]["detail"]) == (True, True)


def test_gliner2_s_other_tasks_are_refused_by_name(opened: Service) -> None:
    poor = call("extract_entities", key=POOR, arguments={"text": TEXT, "entity_types": ["person"]})
    task, relations, both, form, nobody, _, debt = ask(
        opened,
        "gliner2",
        call("classify_text", arguments={"text": TEXT, "tasks": {"mood": ["good", "bad"]}}),
        call("extract_relations", arguments={"text": TEXT, "relation_types": ["owes"]}),
        call(
            "extract",
            arguments={"text": TEXT},
            build={"entities": {"entity_types": ["a"]}, "relations": {"relation_types": ["owes"]}},
        ),
        call("extract", arguments={"text": TEXT}, build={"entities": {"entity_types": {"a": {"dtype": "set"}}}}),
        {**poor, "key": "guess"},
        poor,
        poor,
    )
    refused = (task, relations, both, form)
    assert [(each["class"], each["body"]["code"]) for each in refused] == [("ValidationError", "invalid_options")] * 4
    words = ("classify_text", "relations", "relations", "set")
    assert all(word in each["body"]["detail"] for word, each in zip(words, refused, strict=True))
    assert nobody["class"] == "AuthenticationError"
    assert (debt["class"], "429" in debt["message"]) == ("GLiNER2APIError", True), "it retries what may succeed later"
