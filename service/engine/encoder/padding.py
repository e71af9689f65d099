"""Padded batches, for models that cannot be packed: which sequences are padded together, and their tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from service.core.arrays import TokenIds

PADDING_SHARE = 0.1
"""Largest share of a group's tokens that may be padding."""


def group_by_length(lengths: Sequence[int]) -> list[list[int]]:
    """Indices of sequences in groups of similar lengths, at most `PADDING_SHARE` of each group being padding."""
    groups: list[list[int]] = []
    filled_tokens = 0
    for index in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        longest = lengths[groups[-1][0]] if groups else 0
        padded_tokens = longest * (len(groups[-1]) + 1) if groups else 0
        if groups and filled_tokens + lengths[index] >= (1 - PADDING_SHARE) * padded_tokens:
            groups[-1].append(index)
            filled_tokens += lengths[index]
        else:
            groups.append([index])
            filled_tokens = lengths[index]
    return groups


def pad(sequences: Sequence[TokenIds], padding_id: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Token ids and attention mask, each [sequences, longest]."""
    lengths = [len(tokens) for tokens in sequences]
    ids = np.full((len(sequences), max(lengths)), padding_id, dtype=np.int64)
    for row, tokens in zip(ids, sequences, strict=True):
        row[: len(tokens)] = tokens
    mask = np.arange(max(lengths)) < np.asarray(lengths)[:, None]
    return ids, mask.astype(np.int64)
