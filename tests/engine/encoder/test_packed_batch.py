"""Batches as tensors: packed rows, and copies to the host."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from service.engine.encoder.packed_batch import copy_to_host, pack

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
