"""The batches of one pass over the data: rows of similar length together, in an order that the seed decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from service.engine.tools.training.examples import Example
from service.engine.tools.training.labels import IGNORED

POOL_ROWS = 512


@dataclass(frozen=True, slots=True, eq=False)
class TrainingBatch:
    """Padded rows: ids, mask and tags are `[rows, length]`; open_tags is `[rows, tags]`."""

    ids: Tensor
    mask: Tensor
    tags: Tensor
    open_tags: Tensor

    def to(self, device: torch.device) -> TrainingBatch:
        """The batch on a device."""
        return TrainingBatch(*(each.to(device) for each in (self.ids, self.mask, self.tags, self.open_tags)))


def orders(examples: Sequence[Example], *, batch_tokens: int, seed: int, epoch: int) -> list[list[int]]:
    """The examples of each batch of a pass: all of them once; only a longer one exceeds `batch_tokens` with padding."""
    random = np.random.default_rng((seed, epoch))
    shuffled = random.permutation(len(examples)).tolist()
    batches: list[list[int]] = []
    for first in range(0, len(shuffled), POOL_ROWS):
        pool = sorted(shuffled[first : first + POOL_ROWS], key=lambda number: len(examples[number].ids))
        batches += _filled(pool, examples, batch_tokens)
    return [batches[number] for number in random.permutation(len(batches))]


def _filled(pool: Sequence[int], examples: Sequence[Example], batch_tokens: int) -> Iterator[list[int]]:
    rows: list[int] = []
    for number in pool:
        if rows and (len(rows) + 1) * len(examples[number].ids) > batch_tokens:
            yield rows
            rows = []
        rows.append(number)
    if rows:
        yield rows


def padded(examples: Sequence[Example], *, padding_id: int) -> TrainingBatch:
    """Rows of one length; padding has no tag."""
    shape = len(examples), max(len(example.ids) for example in examples)
    ids, mask = np.full(shape, padding_id, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    tags = np.full(shape, IGNORED, dtype=np.int64)
    for row, example in enumerate(examples):
        size = len(example.ids)
        ids[row, :size], mask[row, :size], tags[row, :size] = example.ids, 1, example.tags
    opened = np.stack([example.open_tags for example in examples])
    return TrainingBatch(*(torch.from_numpy(each) for each in (ids, mask, tags, opened)))
