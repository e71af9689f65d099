"""Rows of fixed sizes: which batch goes to which row, and how the row is filled up."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.engine.cuda_graphs.buckets import SIZES, Bucket, bucket_for, buckets

ROW = Bucket(tokens=256, above=128, slots=4, longest=256)


@given(st.lists(st.integers(1, 700), min_size=1, max_size=40), st.sampled_from([16, 64, 200, 512, 8_192]))
def test_filler_fits_the_model_and_the_row_s_slots(lengths: list[int], longest: int) -> None:
    lengths = [min(length, longest) for length in lengths]
    row = bucket_for(buckets(longest), lengths)
    if row is None:
        return
    filling = row.filling(lengths)
    assert sum(lengths) + sum(filling) == row.tokens
    assert all(0 < length <= row.longest for length in (*lengths, *filling))
    assert len(lengths) + len(filling) <= row.slots
    assert row.above < sum(lengths)


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
    ("lengths", "fits"),
    [
        ([256], True),
        ([100, 56], True),
        ([64, 64, 64], True),
        ([64, 64, 64, 32], False),
        ([128], False),
        ([257], False),
        ([], False),
    ],
)
def test_a_batch_fits_by_tokens_slots_and_longest_sequence(lengths: list[int], fits: bool) -> None:
    assert ROW.fits(lengths) is fits


@pytest.mark.parametrize(
    ("longest", "lengths", "filling"), [(256, [256], []), (256, [200], [56]), (100, [30], [100, 100, 26])]
)
def test_a_row_is_filled_up_by_the_fewest_sequences(longest: int, lengths: list[int], filling: list[int]) -> None:
    assert replace(ROW, longest=longest).filling(lengths) == filling


@pytest.mark.parametrize("longest", [64, 100, 512, 8_192])
def test_samples_belong_to_their_row_and_the_first_gains_least(longest: int) -> None:
    rows = buckets(longest)
    for row in rows:
        emptiest, unequal, fullest = row.samples()
        assert all(bucket_for(rows, lengths) == row for lengths in row.samples())
        assert sum(emptiest) == row.above + 1
        assert sum(emptiest) <= sum(unequal) < sum(fullest) == row.tokens
        assert len(set(unequal)) > 1
        assert len(fullest) == row.slots


def test_a_model_of_short_sequences_has_fewer_rows() -> None:
    assert [row.tokens for row in buckets(512)] == list(SIZES)
    assert [row.tokens for row in buckets(64)] == [64, 128]
    assert buckets(8) == ()
