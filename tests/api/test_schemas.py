"""Options: defaults, every spelling, and sentences that name what is wrong."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.api.options import OPTION_CHARACTERS, ExtractOptions, option_names, read_options
from service.api.schemas import DocumentResult
from service.core.decoding.aggregation_strategies import Aggregation
from service.core.decoding.offsets import OffsetUnit
from service.core.errors import InvalidOptions
from service.core.labels.label_set import LIMITS_PATTERN, ScoreLimits
from service.core.types import Priority

ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def test_no_options_are_the_defaults() -> None:
    options = read_options({})
    assert options == ExtractOptions(
        model=None,
        labels=None,
        min_score=ScoreLimits(),
        aggregation=Aggregation.CONSTRAINED,
        offsets=OffsetUnit.CODEPOINT,
        deadline_ms=None,
        priority=Priority.INTERACTIVE,
        include_text=False,
        fields=False,
    )


def test_form_values_are_read_like_json_values() -> None:
    json: dict[str, Any] = {
        "labels": ["PER", "ORG"],
        "min_score": 0.5,
        "deadline_ms": 100,
        "include_text": True,
        "aggregation": "max",
        "offsets": "utf16",
        "priority": "batch",
    }
    form = {**json, "labels": "PER, ORG,", "min_score": "0.5", "deadline_ms": "100", "include_text": "true"}
    assert read_options(json) == read_options(form)


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"labels": 5}, "labels"),
        ({"min_score": -0.1}, "min_score"),
        ({"min_score": "nan"}, "min_score"),
        ({"min_score": "0.5,PER"}, "min_score"),
        ({"min_score": "PER:1.5"}, "min_score"),
        ({"min_score": ":0.5"}, "min_score"),
        ({"min_score": ["PER:0.5"]}, "min_score"),
        ({"min_score": ""}, "min_score"),
        ({"deadline_ms": 3_600_001}, "deadline_ms"),
        ({"deadline_ms": 1.5}, "deadline_ms"),
        ({"include_text": "perhaps"}, "include_text"),
        ({"aggregation": "constrained", "modell": "x"}, "modell"),
    ],
)
def test_a_bad_option_is_named(values: dict[str, Any], word: str) -> None:
    with pytest.raises(InvalidOptions, match=word):
        read_options(values)


def test_all_bad_options_are_named_at_once_beside_the_known_ones() -> None:
    with pytest.raises(InvalidOptions) as caught:
        read_options({"min_score": 2, "priority": "high", "lables": "PER"})
    assert all(word in caught.value.detail for word in ("min_score", "priority", "lables", "known: aggregation"))


@pytest.mark.parametrize("name", ["deadline_ms", "min_score"])
def test_true_is_no_number(name: str) -> None:
    """It was one millisecond."""
    with pytest.raises(InvalidOptions, match=name):
        read_options({name: True})


def test_the_first_wrong_label_and_three_wrong_options_are_named() -> None:
    with pytest.raises(InvalidOptions, match="Element 1 ") as caught:
        read_options({"labels": ["PER", *[[]] * 10_000]})
    assert len(caught.value.detail) < 100
    with pytest.raises(InvalidOptions) as caught:
        read_options({f"option{i}": "x" * 1_000 for i in range(1_000)})
    assert caught.value.detail.count("no such option") == 3


@pytest.mark.parametrize(
    ("name", "meant"), [("label", "labels"), ("Min_Score", "min_score"), ("ofsets", "offsets"), ("colour", None)]
)
def test_a_mistyped_option_is_answered_with_the_one_that_is_meant(name: str, meant: str | None) -> None:
    with pytest.raises(InvalidOptions, match=f"{name}: there is no such option") as caught:
        read_options({name: 1})
    assert (f"Do you mean `{meant}`?" in caught.value.detail) == (meant is not None)


@pytest.mark.parametrize("name", ["labels", "model", "x" * 100_000])
def test_an_option_that_is_far_too_long_is_refused(name: str) -> None:
    with pytest.raises(InvalidOptions, match=name[:50]) as caught:
        read_options({name: "a," * (OPTION_CHARACTERS // 2 + 1)})
    assert len(caught.value.detail) < 200


def test_a_least_score_may_be_given_by_label() -> None:
    limits = read_options({"min_score": "0.3, PERSON:0.8,a:b:1"}).min_score
    assert limits == ScoreLimits(0.3, (("PERSON", 0.8), ("a:b", 1.0)))
    kept = [label for label in ("PERSON", "IBAN", "a:b") if limits.keeps(label, 0.5)]
    assert kept == ["IBAN"]
    assert read_options({"min_score": "PERSON:0.8"}).min_score.keeps("IBAN", 0.0)


@given(st.from_regex(LIMITS_PATTERN, fullmatch=True))
def test_every_least_score_of_the_schemas_pattern_is_read(value: str) -> None:
    assert isinstance(read_options({"min_score": value}).min_score, ScoreLimits)


@given(st.dictionaries(st.sampled_from([*option_names(ExtractOptions), "text"]), ANYTHING))
def test_any_values_are_read_or_refused_with_a_detail(values: dict[str, Any]) -> None:
    try:
        read_options(values)
    except InvalidOptions as error:
        refused = error
    else:
        return
    assert refused.detail


def test_the_text_comes_back_only_when_it_was_asked_for() -> None:
    result = DocumentResult("a", None, [], 1, 1, 1, False, [], None)
    assert "text" not in msgspec.to_builtins(result)
    assert msgspec.to_builtins(msgspec.structs.replace(result, text=""))["text"] == ""
