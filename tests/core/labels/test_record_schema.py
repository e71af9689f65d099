from __future__ import annotations

import pytest

from service.core.decoding.records import Cardinality
from service.core.decoding.value import ValueKind
from service.core.labels.label_set import Label
from service.core.labels.record_schema import read_schema, record_labels, schema_problem

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
