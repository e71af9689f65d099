"""Packed batches: sequences end to end, positions that restart at each border."""

from __future__ import annotations

import numpy as np
import torch

from service.engine.execution.packed_batch import pack

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


def test_logits_are_cut_at_the_borders() -> None:
    batch = pack([_ids(7, 8, 9), _ids(5)], CPU)
    parts = batch.split(np.arange(8, dtype=np.float32).reshape(4, 2))
    assert [part.tolist() for part in parts] == [[[0, 1], [2, 3], [4, 5]], [[6, 7]]]
