"""Records, sets, splits and windows of a training."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.evaluation.labelled_documents import LabelledDocument, LabelledSet, LabelledSpan, left_out
from service.families.processor import WindowSizes
from service.families.registry import open_processor
from service.families.token_classifier.processor import TokenClassifier
from service.training.data import (
    IGNORED,
    Cutter,
    Example,
    TrainingSet,
    check_learnable,
    open_tags,
    orders,
    padded,
    split,
    tags_of,
    token_tags,
)
from service.training.options import BadData
from tests.support.tiny_models import make_model


def document(*spans: LabelledSpan, text: str = "ab   c", group: str = "g") -> LabelledDocument:
    return LabelledDocument("a", text, spans, group)


def one_set(*documents: LabelledDocument, labels: str = "A") -> LabelledSet:
    return LabelledSet("s", documents, frozenset(labels))


@pytest.mark.parametrize(
    ("spans", "reason"),
    [
        ([LabelledSpan(2, 4, "A")], "white space alone"),
        ([LabelledSpan(0, 2, "A"), LabelledSpan(1, 3, "B")], "overlap"),
    ],
)
def test_entities_that_cannot_be_learnt_are_named(spans: list[LabelledSpan], reason: str) -> None:
    with pytest.raises(BadData) as caught:
        check_learnable([one_set(document(LabelledSpan(0, 2, "A")), document(*spans))])
    assert len(caught.value.problems) == 1
    assert reason in str(caught.value)


def documents(count: int, *, groups: int) -> LabelledSet:
    return one_set(*(document(LabelledSpan(0, 1, "A"), group=str(n % groups), text=f"a {n}") for n in range(count)))


@given(st.integers(2, 40), st.integers(2, 12), st.integers(1, 50))
def test_groups_are_never_on_both_sides_and_both_sides_have_some(count: int, groups: int, percent: int) -> None:
    every = documents(max(count, groups), groups=groups)
    (training,), (outside,) = split([every], left_out_percent=percent)
    assert not {each.group for each in training.documents} & {each.group for each in outside.documents}
    assert training.documents
    assert outside.documents
    assert len(training.documents) + len(outside.documents) == len(every.documents)


def test_the_groups_left_out_are_those_that_evaluation_scores() -> None:
    every = documents(60, groups=20)
    assert split([every], left_out_percent=15)[1] == (left_out(every, 15),)


def test_a_text_that_one_set_leaves_out_is_learned_from_no_other() -> None:
    texts = [document(LabelledSpan(0, 1, "A"), group=str(number), text=f"a {number}") for number in range(60)]
    others = [replace(each, group=f"other {number}") for number, each in enumerate(texts)]
    learned, scored = split([one_set(*texts), one_set(*others)], left_out_percent=15)
    sides = [{each.text for part in side for each in part.documents} for side in (learned, scored)]
    assert all(sides)
    assert not sides[0] & sides[1]


def test_of_large_groups_evaluation_scores_the_one_left_out() -> None:
    every = documents(60, groups=2)
    (outside,) = split([every], left_out_percent=15)[1]
    assert outside.documents
    assert left_out(every, 15, at_least_one=True) == outside


def test_a_label_that_a_set_never_marks_is_open_there() -> None:
    tags = tags_of({"A", "B"})
    assert tags == ("O", "B-A", "I-A", "B-B", "I-B")
    assert open_tags(tags, frozenset("A")).tolist() == [False, False, False, True, True]
    assert open_tags(tags, frozenset("B")).tolist() == [False, True, True, False, False]


def test_tokens_are_tagged_where_they_touch_an_entity() -> None:
    offsets = np.array([(0, 2), (2, 5), (6, 8), (8, 9)], dtype=np.int32)
    ids = {"O": 0, "B-A": 1, "I-A": 2}
    assert token_tags(offsets, [LabelledSpan(1, 5, "A"), LabelledSpan(8, 9, "A")], ids).tolist() == [1, 2, 0, 1]
    assert token_tags(offsets, [LabelledSpan(0, 1, "A"), LabelledSpan(1, 2, "A")], ids).tolist() == [1, 0, 0, 0]


def test_tokens_of_entities_outside_the_labels_do_not_count() -> None:
    offsets = np.array([(0, 2), (3, 5)], dtype=np.int32)
    assert token_tags(offsets, [], {"O": 0}, [(3, 4)]).tolist() == [0, IGNORED]


def test_windows_are_those_of_serving_and_tag_every_token_once(tmp_path: Path) -> None:
    processor = open_processor(make_model(tmp_path / "tiny"))
    assert isinstance(processor, TokenClassifier)
    cutter = Cutter(processor, ("O", "B-A", "I-A"), WindowSizes(longest=12, overlap=4))
    text = "the invoice number is from anna " * 6
    whole = document(LabelledSpan(0, len(text.strip()), "A"), text=text)
    examples = cutter.examples([TrainingSet((whole,), frozenset("A"))])
    counted = [tag for each in examples for tag in each.tags.tolist() if tag != IGNORED]
    assert len(examples) > 1
    assert all(len(each.sequence) <= 12 for each in examples)
    assert counted == [1] + [2] * 35
    assert all(each.tags[0] == each.tags[-1] == IGNORED for each in examples)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=80), st.integers(0, 3))
def test_a_pass_holds_every_example_once_within_the_budget(lengths: list[int], epoch: int) -> None:
    examples = [Example(np.zeros(n, np.int32), np.zeros(n, np.int64), np.zeros(1, np.bool_)) for n in lengths]
    batches = orders(examples, batch_tokens=64, seed=1, epoch=epoch)
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    assert all(len(batch) * max(lengths[row] for row in batch) <= 64 for batch in batches)
    assert batches == orders(examples, batch_tokens=64, seed=1, epoch=epoch)


def test_padding_is_masked_and_has_no_tag() -> None:
    rows = [Example(np.arange(n, dtype=np.int32), np.ones(n, np.int64), np.zeros(3, np.bool_)) for n in (2, 4)]
    batch = padded(rows, padding_id=7)
    assert batch.inputs["input_ids"].tolist() == [[0, 1, 7, 7], [0, 1, 2, 3]]
    assert batch.inputs["attention_mask"].tolist() == [[1, 1, 0, 0], [1, 1, 1, 1]]
    assert batch.tags.tolist()[0] == [1, 1, IGNORED, IGNORED]
