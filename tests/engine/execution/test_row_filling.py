"""Filler: few sizes, little of it, always behind the real sequences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.engine.execution.row_filling import SMALLEST_STEP_TOKENS, fill, filler_lengths, round_up


@given(st.integers(1, 100_000))
def test_a_size_holds_its_tokens_and_little_more(tokens: int) -> None:
    size = round_up(tokens)
    assert tokens <= size < tokens + max(SMALLEST_STEP_TOKENS, tokens / 15)
    assert round_up(size) == size


@pytest.mark.parametrize(("tokens", "size"), [(1, 16), (16, 16), (17, 32), (512, 512), (513, 544), (2_048, 2_048)])
def test_sizes_are_multiples_of_16_then_16_in_each_doubling(tokens: int, size: int) -> None:
    assert round_up(tokens) == size


def test_there_are_64_sizes_up_to_2048_tokens() -> None:
    assert len({round_up(tokens) for tokens in range(1, 2_049)}) == 64


@pytest.mark.parametrize(
    ("tokens", "longest", "lengths"),
    [(0, 256, []), (56, 256, [56]), (200, 100, [100, 100]), (226, 100, [100, 100, 26])],
)
def test_filler_is_as_few_sequences_as_can_be(tokens: int, longest: int, lengths: list[int]) -> None:
    assert filler_lengths(tokens, longest) == lengths


def test_filler_follows_the_sequences() -> None:
    real = [np.arange(5, dtype=np.int32), np.arange(3, dtype=np.int32)]
    filled = fill(real, 20, 8)
    assert [len(tokens) for tokens in filled] == [5, 3, 8, 4]
    assert filled[:2] == real
    assert all(tokens.dtype == np.int32 for tokens in filled)
