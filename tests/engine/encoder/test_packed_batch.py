"""Batches as tensors: packed rows, their filler, and copies to the host."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from service.engine.encoder.packed_batch import (
    SMALLEST_STEP_TOKENS,
    copy_to_host,
    fill,
    filler_lengths,
    pack,
    round_up,
)

CPU = torch.device("cpu")


def _ids(*tokens: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array(tokens, dtype=np.int32)


def test_sequences_lie_end_to_end_and_positions_restart() -> None:
    batch = pack([_ids(7, 8, 9), _ids(5), _ids(6, 6)], CPU)
    assert batch.input_ids.tolist() == [[7, 8, 9, 5, 6, 6]]
    assert batch.position_ids.tolist() == [[0, 1, 2, 0, 0, 1]]
    assert batch.borders == (0, 3, 4, 6)
    assert batch.cu_seqlens.tolist() == [0, 3, 4, 6]
    assert batch.cu_seqlens.dtype == torch.int32
    assert batch.max_length == 3


def test_positions_start_at_the_model_s_first() -> None:
    assert pack([_ids(7, 8), _ids(5)], CPU, first_position=2).position_ids.tolist() == [[2, 3, 2]]


@given(st.integers(1, 100_000))
def test_a_size_holds_its_tokens_and_little_more(tokens: int) -> None:
    size = round_up(tokens)
    assert tokens <= size < tokens + max(SMALLEST_STEP_TOKENS, tokens / 15)
    assert round_up(size) == size


@pytest.mark.parametrize(("tokens", "size"), [(1, 16), (16, 16), (17, 32), (512, 512), (513, 544), (2_048, 2_048)])
def test_sizes_are_multiples_of_16_then_16_in_each_doubling(tokens: int, size: int) -> None:
    assert round_up(tokens) == size


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


@pytest.mark.parametrize(
    ("first", "tokens", "positions"),
    [
        (2, [5, 1, 6, 1, 1, 7], [2, 1, 3, 1, 1, 4]),
        (2, [1, 5], [1, 2]),
        (1, [0, 9, 0, 9], [0, 1, 0, 2]),
        (0, [5, 1, 0, 7], [0, 1, 2, 3]),
    ],
)
def test_padding_tokens_of_a_text_are_counted_as_the_model_does(
    first: int, tokens: list[int], positions: list[int]
) -> None:
    batch = pack([_ids(8, 8), _ids(*tokens)], CPU, first)
    assert batch.position_ids[0].tolist() == [first, first + 1, *positions]


def test_half_precision_is_copied_exactly() -> None:
    logits = torch.randn(5, 3).bfloat16()
    copied = copy_to_host(logits)()
    assert copied.dtype == np.float32
    assert torch.equal(torch.from_numpy(copied).bfloat16(), logits)
