"""Records, sets, splits and windows of a training."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.engine.tools.training.batches import orders, padded
from service.engine.tools.training.errors import BadData, TooLittleData
from service.engine.tools.training.examples import Cutter, Example
from service.engine.tools.training.labels import IGNORED, marked_labels, open_tags, tags_of, token_tags
from service.engine.tools.training.records import LabelledDocument, Marked, read_documents
from service.engine.tools.training.splits import split
from service.text.tokenizer import TextTokenizer
from tests.support.tiny_models import make_model
from tests.support.training_data import record, write_set


def _line(**changes: object) -> str:
    fields: dict[str, object] = {"id": "a", "text": "Acme", "entities": [{"start": 0, "end": 4, "label": "ORG"}]}
    return json.dumps(fields | changes)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "truncated"),
        (_line(text=5), "Expected `str`"),
        ('{"id": "a", "text": "x"}', "missing required field `entities`"),
        (_line(entities=[{"start": 0, "end": 9, "label": "ORG"}]), "not inside its text of 4 characters"),
        (_line(entities=[{"start": 2, "end": 2, "label": "ORG"}]), "not inside"),
        (_line(entities=[{"start": -1, "end": 2, "label": "ORG"}]), "not inside"),
        (_line(entities=[{"start": 0, "end": 4, "label": " "}]), "has no label"),
        (_line(text="   x", entities=[{"start": 0, "end": 2, "label": "ORG"}]), "white space alone"),
        (_line(entities=[{"start": 0, "end": 3, "label": "ORG"}, {"start": 2, "end": 4, "label": "X"}]), "overlap"),
    ],
)
def test_a_bad_record_is_named_with_its_line_and_reason(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(_line() + "\n\n" + line + "\n")
    with pytest.raises(BadData, match=r"set\.jsonl, line 3") as caught:
        read_documents([path])
    assert reason in str(caught.value)


def test_all_problems_of_all_files_are_said_at_once(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text("{\n" * 12)
    with pytest.raises(BadData) as caught:
        read_documents([path, tmp_path / "missing.jsonl"])
    assert len(caught.value.problems) == 13
    assert "… and 3 more" in str(caught.value)


def test_data_without_an_entity_teach_nothing(tmp_path: Path) -> None:
    with pytest.raises(TooLittleData, match="no document has an entity"):
        read_documents([write_set(tmp_path / "set.jsonl", [record(1, labels=())])])


def documents(count: int, *, groups: int, source: str = "s") -> list[LabelledDocument]:
    return [LabelledDocument("x" * 10, (Marked(0, 1, "A"),), f"{source}/{n % groups}", source) for n in range(count)]


@given(st.integers(2, 40), st.integers(2, 12), st.integers(1, 50), st.integers(0, 5))
def test_groups_are_never_on_both_sides_and_both_sides_have_some(
    count: int, groups: int, percent: int, seed: int
) -> None:
    every = documents(max(count, groups), groups=groups)
    training, left_out = split(every, left_out_percent=percent, seed=seed)
    assert not {each.group for each in training} & {each.group for each in left_out}
    assert training
    assert left_out
    assert len(training) + len(left_out) == len(every)
    assert (training, left_out) == split(every, left_out_percent=percent, seed=seed)


def test_a_single_group_cannot_be_split() -> None:
    with pytest.raises(TooLittleData, match="--left-out 0"):
        split(documents(5, groups=1), left_out_percent=10, seed=1)
    assert split(documents(5, groups=1), left_out_percent=0, seed=1)[1] == []


def test_a_label_that_a_set_never_marks_is_open_there() -> None:
    every = [LabelledDocument("ab", (Marked(0, 1, label),), "g", source) for label, source in (("A", "x"), ("B", "y"))]
    marked = marked_labels(every)
    tags = tags_of({"A", "B"})
    assert tags == ("O", "B-A", "I-A", "B-B", "I-B")
    assert open_tags(tags, marked["x"]).tolist() == [False, False, False, True, True]
    assert open_tags(tags, marked["y"]).tolist() == [False, True, True, False, False]


def test_tokens_are_tagged_where_they_touch_an_entity() -> None:
    offsets = np.array([(0, 2), (2, 5), (6, 8), (8, 9)], dtype=np.int32)
    ids = {"O": 0, "B-A": 1, "I-A": 2}
    assert token_tags(offsets, [Marked(1, 5, "A"), Marked(8, 9, "A")], ids).tolist() == [1, 2, 0, 1]
    assert token_tags(offsets, [Marked(0, 1, "A"), Marked(1, 2, "A")], ids).tolist() == [1, 0, 0, 0]


def test_windows_are_those_of_serving_and_tag_every_token_once(tmp_path: Path) -> None:
    tokenizer = TextTokenizer(make_model(tmp_path / "tiny"))
    cutter = Cutter(tokenizer, ("O", "B-A", "I-A"), longest_tokens=12, overlap_tokens=4)
    text = "the invoice number is from anna " * 6
    document = LabelledDocument(text, (Marked(0, len(text.strip()), "A"),), "g", "s")
    examples = cutter.examples([document], {"s": frozenset("A")})
    counted = [tag for each in examples for tag in each.tags.tolist() if tag != IGNORED]
    assert len(examples) > 1
    assert all(len(each.ids) <= 12 for each in examples)
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
    assert batch.ids.tolist() == [[0, 1, 7, 7], [0, 1, 2, 3]]
    assert batch.mask.tolist() == [[1, 1, 0, 0], [1, 1, 1, 1]]
    assert batch.tags.tolist()[0] == [1, 1, IGNORED, IGNORED]
