"""Labels of a request: what a model is given, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace as replaced
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from model_store.builtin import model_folder
from service.api.options import ExtractOptions, read_options
from service.core.decoding.spans import Overlaps
from service.core.decoding.value import ValueKind
from service.core.errors import InvalidOptions
from service.core.labels.label_set import Label, LabelSet, ScoreLimits
from service.documents.document import Document
from service.families.free_labels.processor import LabelTask
from service.families.gliner.processor import Gliner
from service.families.processor import Task, WindowSizes, prepare
from service.families.registry import open_processor
from service.wire import ModelStatus
from tests.support.label_models import HOME, WITH_RECORDS

NAME = "uni-token-bert"
FREE = ModelStatus("free", "stable", "sha256:0", str(HOME / NAME), (), 512, True, 1, free_labels=True)
ABLE = replace(FREE, folder=str(HOME / WITH_RECORDS), labels_per_pass=5, finds_records=True)
FIXED = ModelStatus("fixed", "stable", "sha256:1", "/nowhere", ("O", "B-PER", "I-PER"), 512, True, 1)

FIXED_HERE = replace(FIXED, folder=str(model_folder()))


def task(model: ModelStatus, options: ExtractOptions) -> Task:
    return open_processor(Path(model.folder)).task(options, model, WindowSizes(512, 128))


def given_labels(model: ModelStatus, options: ExtractOptions) -> LabelSet:
    given = task(model, options)
    assert isinstance(given, LabelTask)
    return given.labels


def test_labels_of_any_form_are_given() -> None:
    wish = {"description": "what is due", "kind": "money", "min_score": 0.2}
    given = given_labels(
        FREE,
        read_options({"labels": {"total": wish, "b": ""}, "min_score": "0.7", "overlaps": "nested"}),
    )
    assert [(each.name, each.prompt, each.kind) for each in given.labels] == [
        ("total", "what is due", ValueKind.MONEY),
        ("b", "b", None),
    ]
    assert (given.limits, given.overlaps) == ((0.2, 0.7), Overlaps.NESTED)


def test_labels_in_a_form_may_be_json() -> None:
    assert read_options({"labels": '{"a": "b"}'}).labels == {"a": "b"}
    assert read_options({"labels": '["a, b", "c"]'}).labels == read_options({"labels": '[ "a, b", "c"]'}).labels
    assert read_options({"labels": '[\n "a, b"\n]'}).labels == ["a, b"]
    assert read_options({"labels": "a, [b]"}).labels == ["a", "[b]"]
    for broken in ("{a}", '["a, b', '["a", 1]', "['a']"):
        with pytest.raises(InvalidOptions, match="labels: "):
            read_options({"labels": broken})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "no labels of its own"),
        ({"labels": []}, "empty"),
        ({"labels": ["a"], "fields": True}, "fields"),
        ({"labels": ["a"], "aggregation": "max"}, "aggregation"),
        ({"labels": ["a", "b"], "min_score": "c:0.1"}, "min_score: the model `free` has no label 'c'; there are: a, b"),
        ({"labels": ["due date"], "min_score": "Due date:0.1"}, "no label 'Due date'; did you mean due date"),
        ({"labels": ["due date"], "min_score": "due dat:0.1"}, "no label 'due dat'; did you mean due date"),
        ({"labels": ["a", "x [SEP]"]}, "special token"),
    ],
)
def test_what_a_free_model_cannot_be_asked_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidOptions, match=words):
        given_labels(FREE, read_options(options))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"labels": {"PER": "a person"}}, "reads no descriptions; give 'PER' by its name"),
        ({"labels": {"PER": {"min_score": 0.4}}}, "'PER'"),
        ({"labels": {"PERS": ""}}, "did you mean PER"),
        ({"overlaps": "per_label"}, "overlaps"),
        ({"schema": {"a": ["b"]}}, "schema: fixed finds no records"),
    ],
)
def test_what_a_fixed_model_has_no_use_for_is_refused(options: dict[str, Any], words: str) -> None:
    task(FIXED, read_options({"labels": {"PER": ""}, "overlaps": "flat"}))
    with pytest.raises(InvalidOptions, match=words):
        task(FIXED, read_options(options))


def test_the_fields_of_a_schema_are_given_as_labels() -> None:
    schema = {"line item": ["text", {"name": "price", "kind": "money", "min_score": 0.9}], "total": ["sum"]}
    for written in (schema, json.dumps(schema)):
        given = given_labels(ABLE, read_options({"schema": written, "min_score": "0.3"}))
        assert given.names == ("text", "price", "sum")
        assert [(each.name, each.limit, each.limits) for each in given.records] == [
            ("line item", 0.3, (0.3, 0.9)),
            ("total", 0.3, (0.3,)),
        ]


@pytest.mark.parametrize("schema", ["{", "[]", ["a"], {"a": "b"}, {"a": [{"name": "b", "choices": []}]}])
def test_what_is_no_schema_is_a_bad_option(schema: object) -> None:
    with pytest.raises(InvalidOptions, match=r"^schema: "):
        read_options({"schema": schema})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"schema": {}}, "schema: it names no records"),
        ({"schema": {"a": [f"f{number}" for number in range(6)]}}, "schema: there are 6 fields"),
        ({"labels": ["b"]}, "labels: a request has either"),
        ({"overlaps": "nested"}, "overlaps"),
        ({"min_score": "b:0.4"}, "min_score"),
        ({"fields": True}, "fields"),
        ({"aggregation": "first"}, "aggregation"),
        ({"schema": {"a [P]": ["b"]}}, r"schema: 'a \[P\]' holds '\[P\]'"),
        ({"schema": {"a": [{"name": "b", "description": "so many words " * 35}]}}, "half a window of 512"),
    ],
)
def test_what_does_not_go_with_a_schema_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidOptions, match=words):
        given_labels(ABLE, read_options({"schema": {"a": ["b"]}} | options))


def test_a_model_without_a_record_head_is_refused_by_name() -> None:
    with pytest.raises(InvalidOptions, match="schema: free finds no records"):
        given_labels(FREE, read_options({"schema": {"a": ["b"]}}))


def test_labels_are_charged_and_leased_with_the_text() -> None:
    few, many = (LabelSet.of([Label(str(number)) for number in range(count)], ScoreLimits()) for count in (2, 50))
    processor, sizes = Gliner(HOME / NAME), WindowSizes(512, 128)
    tasks = [LabelTask(processor, each, sizes) for each in (few, many, replaced(many, limits=(0.0,) * 50))]
    usual, more, low = (each.scores_a_token for each in tasks)
    assert usual < more < low
    text = prepare(tasks[0], Document("Jane Doe paid."))
    assert text.charged_tokens == sum(map(len, text.sequences)) > len(text.tokens.ids)
    whole = prepare(task(FIXED_HERE, read_options({})), Document("Jane Doe paid."))
    assert whole.charged_tokens == len(whole.tokens.ids) < sum(map(len, whole.sequences))
