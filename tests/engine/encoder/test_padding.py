"""Padded batches: groups of similar lengths, and their tensors."""

from __future__ import annotations

import numpy as np

from service.engine.encoder.padding import group_by_length, pad


def test_groups_hold_similar_lengths_and_each_sequence_once() -> None:
    lengths = [100, 10, 95, 11, 98, 1, 50, 12]
    groups = group_by_length(lengths)
    assert sorted(index for group in groups for index in group) == list(range(len(lengths)))
    for group in groups:
        padded = len(group) * max(lengths[index] for index in group)
        assert sum(lengths[index] for index in group) >= 0.9 * padded
    assert len(groups) < len(lengths)


def test_padding_is_masked() -> None:
    ids, mask = pad([np.array([5, 6, 7], dtype=np.int32), np.array([8], dtype=np.int32)], padding_id=1)
    assert ids.tolist() == [[5, 6, 7], [8, 1, 1]]
    assert mask.tolist() == [[1, 1, 1], [1, 0, 0]]
