"""Rows of fixed sizes: what goes where, and how it is filled up."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.engine.buckets import SIZES, Bucket, bucket_for, buckets

ROW = Bucket(tokens=256, above=128, slots=4, longest=256)


@given(st.lists(st.integers(1, 700), min_size=1, max_size=40), st.sampled_from([16, 64, 200, 512, 8_192]))
def test_real_sequences_keep_their_borders_and_the_rest_is_filled(lengths: list[int], longest: int) -> None:
    lengths = [min(length, longest) for length in lengths]
    row = bucket_for(buckets(longest), lengths)
    if row is None:
        return
    borders = row.borders(lengths)
    assert borders is not None
    assert len(borders) == row.slots + 1
    assert (borders[0], borders[-1]) == (0, row.tokens)
    parts = [stop - start for start, stop in pairwise(borders)]
    assert parts[: len(lengths)] == lengths
    assert all(0 <= part <= row.longest for part in parts)
    assert row.above < sum(lengths) <= row.tokens
    filling = row.filling(lengths)
    assert parts[len(lengths) :] == [*filling, *[0] * (row.slots - len(lengths) - len(filling))]


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([1], 64),
        ([64], 64),
        ([65], 128),
        ([20, 30, 10], 64),
        ([16] * 4, 64),
        ([16] * 3 + [8], None),  # What fills the row up needs a slot as well.
        ([12] * 5, None),
        ([512, 512], 1_024),
        ([512] * 4, 2_048),
        ([512] * 4 + [1], None),
    ],
)
def test_a_batch_goes_to_the_smallest_row_that_holds_its_tokens(lengths: list[int], expected: int | None) -> None:
    row = bucket_for(buckets(512), lengths)
    assert (row.tokens if row is not None else None) == expected


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([256], (0, 256, 256, 256, 256)),
        ([100, 56], (0, 100, 156, 256, 256)),
        ([64, 64, 64], (0, 64, 128, 192, 256)),
        ([64, 64, 64, 32], None),
        ([257], None),
    ],
)
def test_slots_that_are_left_over_are_empty(lengths: list[int], expected: tuple[int, ...] | None) -> None:
    assert ROW.borders(lengths) == expected


@pytest.mark.parametrize("longest", [64, 100, 512, 8_192])
def test_samples_belong_to_their_row_and_the_first_gains_least(longest: int) -> None:
    rows = buckets(longest)
    for row in rows:
        emptiest, uneven, fullest = row.samples()
        assert all(bucket_for(rows, lengths) == row for lengths in row.samples())
        assert sum(emptiest) == row.above + 1
        assert sum(emptiest) <= sum(uneven) < sum(fullest) == row.tokens
        assert len(set(uneven)) > 1
        assert len(fullest) == row.slots


def test_a_model_of_short_sequences_has_fewer_rows_or_none() -> None:
    assert [row.tokens for row in buckets(512)] == list(SIZES)
    assert [row.tokens for row in buckets(64)] == [64, 128]
    assert buckets(8) == ()
