"""Span layer: scores every span of words up to a width, for GLiNER's heads and GLiNER2's of the architecture `span`.

- `markerV0`: a span's vector is a two-layer perceptron over [start; end], and its score the product with the label's.
  Folded, which is exact: the first layer is computed once a word, and the last one is multiplied into the labels.
- `marker`: the same with one layer, so a span's score is a part of its start and a part of its end.

The work on spans goes in blocks of words, so that it takes no more memory for a large batch than for a small one.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from service.families.free_labels.engine.head_parts import BLOCK_NUMBERS, Perceptron, parted


class SpanLayer(nn.Module):
    """Scores every span of up to `width` words: `[words, width * labels]`; those beyond the last word say nothing."""

    def __init__(self, size: int, width: int, mode: str) -> None:
        super().__init__()
        self._width, self._size = width, size
        inner = 4 * size if mode == "markerV0" else 2 * size
        self.project_start = Perceptron(size, inner, size)
        self.project_end = Perceptron(size, inner, size)
        self.out_project = Perceptron(2 * size, inner, size) if mode == "markerV0" else nn.Linear(2 * size, size)

    def scores(
        self, words: torch.Tensor, labels: torch.Tensor, counts: Sequence[int], label_counts: Sequence[int]
    ) -> list[torch.Tensor]:
        """Scores of each sequence; words, and their labels' vectors, lie end to end."""
        first = self.out_project if isinstance(self.out_project, nn.Linear) else self.out_project.first
        starts = F.linear(self.project_start(words).relu(), first.weight[:, : self._size])
        ends = F.linear(self.project_end(words).relu(), first.weight[:, self._size :], first.bias)
        own = parted(starts, counts), parted(ends, counts)
        if isinstance(self.out_project, nn.Linear):
            return [*map(self._added, *own, parted(labels, label_counts))]
        last = self.out_project.last
        queries, shifts = labels @ last.weight, labels @ last.bias
        return [*map(self._multiplied, *own, parted(queries, label_counts), parted(shifts, label_counts))]

    def _multiplied(
        self, starts: torch.Tensor, ends: torch.Tensor, queries: torch.Tensor, shifts: torch.Tensor
    ) -> torch.Tensor:
        words, inner = starts.shape
        scores = starts.new_empty(words, self._width, len(queries))
        padded = F.pad(ends, (0, 0, 0, self._width - 1))
        step = max(1, BLOCK_NUMBERS // (self._width * inner))
        for begin in range(0, words, step):
            stop = min(begin + step, words)
            end = padded[begin : stop + self._width - 1].unfold(0, self._width, 1).transpose(1, 2)
            hidden = (starts[begin:stop, None] + end).relu_()
            scores[begin:stop] = hidden @ queries.T + shifts
        return scores.flatten(1)

    def _added(self, starts: torch.Tensor, ends: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        behind = F.pad(ends @ labels.T, (0, 0, 0, self._width - 1)).unfold(0, self._width, 1).transpose(1, 2)
        return ((starts @ labels.T)[:, None] + behind).flatten(1)
