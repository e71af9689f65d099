"""Parts that the heads of models with free labels share: the rows that they read, and their weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from service.core.arrays import TokenIds
from service.core.decoding.spans import MASKED
from service.core.errors import ModelError
from service.core.labels.marking import text_part
from service.families.engine.checkpoint import to_device

NO_SCORE = 2 * MASKED
"""Score of what is no candidate: a label that is absent, a pair that is no span, a text in which nothing is."""
BLOCK_NUMBERS = 1 << 21
"""Numbers of the largest tensor of a block of words: 8 MiB."""


class PickedRows(NamedTuple):
    """Hidden states of the words and of the labels of all sequences, each end to end, and how many each one has."""

    words: torch.Tensor
    labels: torch.Tensor
    word_counts: list[int]
    label_counts: list[int]


def pick_rows(rows: torch.Tensor, marked: Sequence[TokenIds], *class_ids: int | None, behind: int = 0) -> PickedRows:
    """The rows at words and labels, float32.

    Args:
        rows: hidden states of all tokens of marked sequences, end to end.
        class_ids: of the tokens that stand before labels.
        behind: how many tokens behind its class token a label is read.
    """
    marked = [text_part(each) for each in marked]
    words, word_counts = _rows_where(rows, [each >= 0 for each in marked])
    labels, label_counts = rows_of(rows, marked, *class_ids, behind=behind)
    return PickedRows(words, labels, word_counts, label_counts)


def rows_of(
    rows: torch.Tensor, marked: Sequence[TokenIds], *token_ids: int | None, behind: int = 0
) -> tuple[torch.Tensor, list[int]]:
    """The rows at tokens that are no words', or so many tokens behind them, and how many each sequence has."""
    own = [~each for each in token_ids if each is not None]
    return _rows_where(rows, [np.isin(each, own) for each in marked], behind)


def _rows_where(
    rows: torch.Tensor, chosen: Sequence[NDArray[np.bool_]], behind: int = 0
) -> tuple[torch.Tensor, list[int]]:
    places = np.flatnonzero(np.concatenate(chosen)) + behind
    picked = rows.index_select(0, to_device(places, rows.device)).float()
    return picked, [int(each.sum()) for each in chosen]


def parted(rows: torch.Tensor, counts: Sequence[int]) -> list[torch.Tensor]:
    """Rows of each sequence, all end to end before."""
    return [rows[start:stop] for start, stop in pairwise(accumulate(counts, initial=0))]


class Perceptron(nn.Sequential):
    """Two layers with the names that they have in the folder, between which there was a dropout."""

    def __init__(self, size: int, inner: int, out: int) -> None:
        super().__init__(nn.Linear(size, inner), nn.ReLU(), nn.Identity(), nn.Linear(inner, out))

    @property
    def first(self) -> nn.Linear:
        """The layer before the ReLU."""
        return cast(nn.Linear, self[0])

    @property
    def last(self) -> nn.Linear:
        """The layer behind it."""
        return cast(nn.Linear, self[3])


def load_head(head: nn.Module, weights: Mapping[str, torch.Tensor]) -> None:
    """Load a head's weights in float32, none missing and none left over.

    Raises:
        ModelError: the weights are others; the sentence names some.
    """
    try:
        missing, unexpected = head.load_state_dict({name: each.float() for name, each in weights.items()}, strict=False)
    except RuntimeError as error:
        raise misfit(str(error)) from error
    for what, names in (("missing", missing), ("unexpected", unexpected)):
        if names:
            raise misfit(f"{what}: {', '.join(sorted(names)[:3])}")
    head.eval().requires_grad_(False)


def misfit(reason: str) -> ModelError:
    """The error of a folder whose weights are not those that its configuration asks for."""
    return ModelError(f"its weights do not fit its configuration: {reason}")
