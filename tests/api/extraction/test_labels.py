"""Labels of a request: what a model is given, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from service.api.extraction.labels import check_labels, given_labels
from service.api.options import read_options
from service.core.decoding.spans import Overlaps
from service.core.decoding.value import ValueKind
from service.core.errors import InvalidOptions
from service.text.words.word_tokenizer import WordTokenizer
from service.wire import ModelStatus
from tests.support.label_models import HOME

NAME = "uni-token-bert"
TOKENIZER = WordTokenizer(HOME / NAME)
FREE = ModelStatus("free", "stable", "sha256:0", str(HOME / NAME), (), 512, True, 1, free_labels=True)
FIXED = ModelStatus("fixed", "stable", "sha256:1", "", ("O", "B-PER", "I-PER"), 512, True, 1)


def test_labels_of_any_form_are_given() -> None:
    wish = {"description": "what is due", "kind": "money", "min_score": 0.2}
    given = given_labels(
        FREE,
        TOKENIZER,
        read_options({"labels": {"total": wish, "b": ""}, "min_score": "0.7", "overlaps": "nested"}),
        512,
    )
    assert [(each.name, each.prompt, each.kind) for each in given.labels] == [
        ("total", "what is due", ValueKind.MONEY),
        ("b", "b", None),
    ]
    assert (given.limits, given.overlaps) == ((0.2, 0.7), Overlaps.NESTED)


def test_labels_in_a_form_may_be_json() -> None:
    assert read_options({"labels": '{"a": "b"}'}).labels == {"a": "b"}
    assert read_options({"labels": '["a, b", "c"]'}).labels == ["a, b", "c"]
    assert read_options({"labels": "a, [b]"}).labels == ["a", "[b]"]
    for broken in ("{a}", '["a, b', '["a", 1]'):
        with pytest.raises(InvalidOptions, match="labels: "):
            read_options({"labels": broken})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "no labels of its own"),
        ({"labels": []}, "empty"),
        ({"labels": ["a"], "fields": True}, "fields"),
        ({"labels": ["a"], "aggregation": "max"}, "aggregation"),
        ({"labels": ["a", "b"], "min_score": "c:0.1"}, "min_score: free has no label 'c'; there are: a, b"),
        ({"labels": ["a", "x [SEP]"]}, "special token"),
    ],
)
def test_what_a_free_model_cannot_be_asked_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidOptions, match=words):
        given_labels(FREE, TOKENIZER, read_options(options), 512)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"labels": {"PER": "a person"}}, "reads no descriptions; give 'PER' by its name"),
        ({"labels": {"PER": {"min_score": 0.4}}}, "'PER'"),
        ({"labels": {"PERS": ""}}, "did you mean PER"),
        ({"overlaps": "per_label"}, "overlaps"),
    ],
)
def test_what_a_fixed_model_has_no_use_for_is_refused(options: dict[str, Any], words: str) -> None:
    check_labels(FIXED, None, read_options({"labels": {"PER": ""}, "overlaps": "flat"}))
    with pytest.raises(InvalidOptions, match=words):
        check_labels(FIXED, None, read_options(options))
