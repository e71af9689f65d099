"""Sequences end to end in a submission's buffer, with the pictures of their pages, and what contradicts that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from service.core.arrays import TokenIds, ids_in, with_ids
from service.core.sequences import contradiction, divided, joined, picture_of, pictures_in, shape_of, with_picture
from service.core.types import MOST_PICTURES, Priority, ResponseKind, Submission

SIDE = 4


def _submission(**more: Any) -> Submission:
    fields: dict[str, Any] = {"lengths": (3, 1, 2)} | more
    return Submission("k", "m", client="c", priority=Priority.BATCH, deadline_seconds=9.0, **fields)


def _sequences(columns: int) -> list[TokenIds]:
    numbers = np.arange(6 * columns, dtype=np.int32).reshape(6, columns)
    return np.split(numbers.reshape(-1) if columns == 1 else numbers, (3, 4))


def _pictures(count: int) -> list[np.ndarray]:
    every = np.arange(count * 3 * SIDE * SIDE, dtype=np.uint8).reshape(count, 3, SIDE, SIDE)
    return [*every]


@pytest.mark.parametrize("columns", [1, 5])
def test_sequences_come_back_from_their_buffer(columns: int) -> None:
    sequences = _sequences(columns)
    submission, buffer = _submission(**shape_of(sequences)), joined(sequences)
    assert (submission.lengths, submission.columns, submission.picture_of) == ((3, 1, 2), columns, ())
    assert contradiction(submission, buffer.nbytes) is None
    tokens = divided(submission, buffer)
    assert np.array_equal(tokens, np.concatenate(sequences))
    assert picture_of(tokens) is None


def test_a_picture_is_sent_once_and_comes_back_for_each_of_its_sequences() -> None:
    page, other = _pictures(2)
    sequences = [with_picture(each, of) for each, of in zip(_sequences(5), (page, other, page), strict=True)]
    submission, buffer = _submission(**shape_of(sequences)), joined(sequences)
    assert (submission.picture_of, submission.picture_side) == ((0, 1, 0), SIDE)
    assert contradiction(submission, buffer.nbytes) is None
    pictures = picture_of(divided(submission, buffer))
    assert pictures is not None
    assert np.array_equal(pictures, [page, other])


def test_pictures_count_only_where_every_sequence_has_one() -> None:
    first, *others = _sequences(5)
    assert pictures_in([with_picture(first, _pictures(1)[0]), *others]) == ((), [])


def test_a_picture_stays_with_copies_and_views_of_its_sequence() -> None:
    (picture,) = _pictures(1)
    sequence = with_picture(_sequences(5)[0], picture)
    assert picture_of(with_ids(sequence, ~ids_in(sequence))) is picture
    assert picture_of(sequence[:1]) is picture


@pytest.mark.parametrize(
    ("fields", "buffer_bytes", "said"),
    [
        ({}, 20, "20 bytes for tokens and pictures of 24"),
        ({"columns": 5}, 24, "24 bytes for tokens and pictures of 120"),
        ({"picture_of": (0, 0, 1), "picture_side": 4}, 24, "24 bytes for tokens and pictures of 120"),
        ({"picture_of": (0, 0), "picture_side": 4}, 72, "2 of 3 sequences"),
        ({"picture_of": (0, 0, 0)}, 24, "3 of 3 sequences have pictures of 0 pixels"),
        ({"picture_side": 4}, 24, "0 of 3 sequences"),
        ({"picture_of": (0, 0, MOST_PICTURES - 1), "picture_side": 1_024}, 24, "pictures of 6291456000 bytes"),
        ({"response_kind": ResponseKind.WORD_TAGS}, 24, "tags of 3 sequences"),
    ],
)
def test_fields_that_contradict_each_other_are_named(fields: dict[str, Any], buffer_bytes: int, said: str) -> None:
    found = contradiction(_submission(**fields), buffer_bytes)
    assert found is not None
    assert said in found
