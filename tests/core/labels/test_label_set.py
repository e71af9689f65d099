from __future__ import annotations

import pytest

from service.core.decoding.value import ValueKind
from service.core.labels.label_set import MOST_LABELS, Label, LabelSet, label_problem, read_labels
from service.core.score_limits import ScoreLimits, read_limits


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
