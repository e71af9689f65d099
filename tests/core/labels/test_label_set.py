"""Labels and schemas of a request, their least scores, and how they are marked among the tokens."""

from __future__ import annotations

import sys

import jsonschema_rs
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.core.decoding.records import Cardinality
from service.core.decoding.value import ValueKind
from service.core.labels import marking
from service.core.labels.label_set import (
    LIMITS_PATTERN,
    MOST_LABELS,
    Label,
    LabelSet,
    ScoreLimits,
    label_problem,
    read_labels,
    read_limits,
)
from service.core.labels.record_schema import read_schema, record_labels, schema_problem


@pytest.mark.parametrize(
    ("value", "labels"),
    [
        (None, None),
        ("", None),
        ("person, order number ,", (Label("person"), Label("order number"))),
        (["b", "a", "b"], (Label("b"), Label("a"))),
        (["person", " person", "order\n number"], (Label("person"), Label("order number"))),
        ({" order  number": None}, (Label("order number"),)),
        ([], ()),
        ({"total": "at the bottom", "x": None}, (Label("total", "at the bottom"), Label("x"))),
        (
            {"total": {"description": " what is due ", "kind": "money", "min_score": 0}},
            (Label("total", "what is due", ValueKind.MONEY, 0.0),),
        ),
    ],
)
def test_labels_are_read_from_any_form(value: object, labels: tuple[Label, ...] | None) -> None:
    assert read_labels(value) == labels


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (["a", 1], "Element 1"),
        (3, "list of labels"),
        ({"a": 1}, "'a'"),
        ({1: "a"}, "name of each label"),
        ({"a b": "", " a  b": ""}, "'a b' comes twice"),
        ({"a": {"kind": "colour"}}, "kind of 'a'"),
        ({"a": {"kind": []}}, "kind of 'a'"),
        ({"a": {"min_score": 2}}, "min_score of 'a'"),
        ({"a": {"min_score": True}}, "min_score of 'a'"),
        ({"a": {"description": 1}}, "description of 'a'"),
        ({"a": {"colour": 1}}, "'colour'"),
        ({1: "x"}, "the name of each label"),
    ],
)
def test_what_is_none_is_named(value: object, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_labels(value)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([], "empty"),
        ([Label(f"l{number}") for number in range(MOST_LABELS + 1)], str(MOST_LABELS + 1)),
        ([Label("a"), Label(" ")], "element 1"),
        ([Label("a" * 101)], "longer than 100"),
        ([Label("a", "b" * 501)], "'a' is longer than 500"),
    ],
)
def test_labels_that_no_model_is_given_have_a_reason(labels: list[Label], said: str) -> None:
    assert said in (label_problem(labels) or "")
    assert label_problem([Label("a"), Label("b" * 100, "c" * 500)]) is None


def test_a_label_is_read_by_its_description_and_plain_without_one() -> None:
    labels = LabelSet.of([Label("a"), Label("b", "what b is")], ScoreLimits())
    assert labels.names == ("a", "b")
    assert [each.prompt for each in labels.labels] == ["a", "what b is"]
    assert [each.is_plain for each in labels.labels] == [True, False]


def test_a_labels_own_limit_comes_before_that_of_the_request() -> None:
    labels = [Label("a", min_score=0.1), Label("b"), Label("c")]
    assert LabelSet.of(labels, ScoreLimits()).limits == (0.1, 0.5, 0.5)
    assert LabelSet.of(labels, read_limits("0.7,b:0.2,a:0.9")).limits == (0.1, 0.2, 0.7)
    assert LabelSet.of(labels, read_limits("b:0.2")).least_limit == 0.1


@pytest.mark.parametrize(
    ("tokens", "most_labels", "most_tokens", "sizes"),
    [
        ([3] * 5, 2, 100, [2, 2, 1]),
        ([3] * 5, 9, 6, [2, 2, 1]),
        ([9, 1, 9], 9, 6, [1, 1, 1]),
        ([1], 1, 1, [1]),
    ],
)
def test_groups_part_the_labels_in_order(
    tokens: list[int], most_labels: int, most_tokens: int, sizes: list[int]
) -> None:
    labels = LabelSet.of([Label(str(number)) for number in range(len(tokens))], ScoreLimits())
    groups = labels.groups(tokens, most_labels, most_tokens)
    assert [len(group) for group in groups] == sizes
    assert [index for group in groups for index in group] == list(range(len(tokens)))


ONE, MANY = Cardinality.REQUIRED_ONE, Cardinality.ZERO_OR_MORE


def test_a_schema_has_names_or_objects_as_fields() -> None:
    price = {"name": "unit  price", "kind": "money", "cardinality": "required_one", "description": "of one"}
    schema = read_schema({"line item": ["description", price], "party": [{"name": "name", "min_score": 0.7}]})
    assert schema is not None
    item, party = schema
    assert item.fields == (Label("description"), Label("unit price", "of one", ValueKind.MONEY))
    assert (item.cardinalities, party.cardinalities) == ((MANY, ONE), (MANY,))
    assert party.fields == (Label("name", min_score=0.7),)
    assert read_schema(None) is None


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (["a"], "an object"),
        ({"a": "b"}, "'a' should have a list of fields"),
        ({"a": {"b": ""}}, "'a' should have a list of fields"),
        ({"a": [1]}, "'a' should be a name"),
        ({"a": [{"kind": "date"}]}, "'a' should be a name"),
        ({"a": [{"name": "b", "choices": ["c"]}]}, "unknown key 'choices'"),
        ({"a": [{"name": "b", "cardinality": "two"}]}, "cardinality of a field of 'a'"),
        ({"a": [{"name": "b", "kind": "colour"}]}, "kind of 'b'"),
        ({"a": ["b", " b"]}, "'b' comes twice"),
        ({"a": ["b"], "a ": ["c"]}, "'a' comes twice"),
        ({1: ["b"]}, "name of each label"),
    ],
)
def test_what_is_no_schema_is_refused_with_its_place(value: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_schema(value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({}, "no records"),
        ({"a": []}, "'a': the list is empty"),
        ({" ": ["b"]}, "blank"),
        ({"a": ["b" * 101]}, "longer than 100"),
        ({"a": ["b", "c", "d"], "e": ["f"]}, "4 fields; the model takes 3"),
    ],
)
def test_a_schema_that_a_model_cannot_be_given_has_a_problem(value: object, words: str) -> None:
    assert words in str(schema_problem(read_schema(value) or (), 3))


def test_fields_of_all_records_are_the_labels() -> None:
    low, high = {"name": "low", "min_score": 0.1}, {"name": "high", "min_score": 0.9}
    required = [{**low, "cardinality": ONE}, {"name": "any", "cardinality": ONE}]
    schema = read_schema({"a": ["first", low, high], "b": required})
    assert schema is not None
    assert schema_problem(schema, 5) is None
    labels = record_labels(schema, None)
    assert labels.names == ("first", "low", "high", "low", "any")
    assert labels.limits == (0.5, 0.5, 0.9, 0.1, 0.0)
    assert [(each.name, each.fields, each.limits) for each in labels.records] == [
        ("a", range(3), (0.5, 0.5, 0.9)),
        ("b", range(3, 5), (0.1, 0.0)),
    ]
    assert labels.least_limit == 0.5
    assert record_labels(schema, 0.2).least_limit == 0.2


ids = st.lists(st.integers(0, marking.LABEL - 1), min_size=1, max_size=5)


def array(numbers: list[int]) -> np.ndarray:
    return np.array(numbers, dtype=np.int32)


@given(st.lists(ids, max_size=4), ids, st.lists(ids, max_size=4))
@example(words=[[1, 2]], prompt=[3], labels=[[4, 5], [6]])
def test_what_is_marked_comes_back(words: list[list[int]], prompt: list[int], labels: list[list[int]]) -> None:
    parts = [~array(prompt), *(marking.word(array(each)) for each in words)]
    marked = np.concatenate([*parts, *(marking.label(array(each)) for each in labels)])
    text = marking.text_part(marked)
    assert marking.unmarked(text).tolist() == [*prompt, *(number for each in words for number in each)]
    assert (text >= 0).sum() == len(words)
    assert [each.tolist() for each in marking.labels_beside(marked)] == labels
    assert marked.dtype == np.int32


@pytest.mark.parametrize(
    ("value", "limits"),
    [
        (0.5, ScoreLimits(0.5)),
        (1, ScoreLimits(1.0)),
        (ScoreLimits(0.2), ScoreLimits(0.2)),
        ("0.5", ScoreLimits(0.5)),
        ("0.5, PERSON: 0.8,IBAN:0", ScoreLimits(0.5, (("PERSON", 0.8), ("IBAN", 0.0)))),
        ("PERSON:0.8,PERSON:0.9", ScoreLimits(None, (("PERSON", 0.9),))),
    ],
)
def test_limits_are_read(value: object, limits: ScoreLimits) -> None:
    assert read_limits(value) == limits


@pytest.mark.parametrize("value", [True, None, [], 1.5, -1, "", "x", "PERSON:2", ":0.5", "0.5,,"])
def test_what_is_no_limit_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"should be|names no label"):
        read_limits(value)


def test_a_label_of_spaces_alone_is_refused_by_the_schemas_pattern_too() -> None:
    shown = jsonschema_rs.validator_for({"type": "string", "pattern": LIMITS_PATTERN})
    assert shown.is_valid("0.5, PERSON: 0.8,IBAN:0")
    for space in filter(str.isspace, map(chr, range(sys.maxunicode + 1))):
        assert not shown.is_valid(f"{space}:0.5"), ascii(space)
        with pytest.raises(ValueError, match="names no label"):
            read_limits(f"{space}:0.5")


def test_a_label_of_its_own_limit_is_kept_by_that() -> None:
    limits = read_limits("0.5,PERSON:0.8")
    assert limits.keeps("IBAN", 0.5)
    assert not limits.keeps("PERSON", 0.7)
