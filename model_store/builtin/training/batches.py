"""Draws training batches: sources by weight, random crops of long documents, rows of similar length together.

Pure functions of a `numpy` generator; one batch holds at most a budget of padded tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from model_store.builtin.training.base.tokenizer import PAD, UNKNOWN
from model_store.builtin.training.encoding import IGNORED, Encoded

CROP_TOKENS: Final = (126, 254, 254, 510)
POOL_BATCHES: Final = 12


@dataclass(frozen=True, slots=True)
class SpecialIds:
    """Ids of the tokens that no text holds: those around a sequence, padding, and the unknown token."""

    begin: int
    end: int
    pad: int
    unknown: int

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> SpecialIds:
        """Those of a tokenizer made here."""
        begin, end = tokenizer.encode("").ids
        return cls(begin, end, pad=tokenizer.token_to_id(PAD), unknown=tokenizer.token_to_id(UNKNOWN))


@dataclass(frozen=True, slots=True)
class Batch:
    """Padded rows: ids, mask, positions, tags are [rows, length]; open_tags is [rows, 71]."""

    ids: Tensor
    mask: Tensor
    positions: Tensor
    tags: Tensor
    open_tags: Tensor


def batches(
    sources: Mapping[str, Sequence[Encoded]],
    weights: Mapping[str, float],
    *,
    special: SpecialIds,
    budget_tokens: int,
    random: np.random.Generator,
) -> Iterator[Batch]:
    """Endless batches in which each source's share of the tokens is about its weight."""
    names = [name for name in sources if weights.get(name, 0) > 0]
    typical = np.array([np.mean([min(len(doc.ids), 200) for doc in sources[name]]) + 2 for name in names])
    chances = np.array([weights[name] for name in names]) / typical
    chances /= chances.sum()
    while True:
        pool: list[Encoded] = []
        pooled_tokens = 0
        while pooled_tokens < POOL_BATCHES * budget_tokens:
            name = names[int(random.choice(len(names), p=chances))]
            pool.append(_crop(sources[name][int(random.integers(len(sources[name])))], random))
            pooled_tokens += len(pool[-1].ids) + 2
        pool.sort(key=lambda doc: len(doc.ids))
        rows = list(_rows(pool, budget_tokens))
        for index in random.permutation(len(rows)):
            yield _batch(rows[index], special, random)


def _rows(pool: Sequence[Encoded], budget_tokens: int) -> Iterator[list[Encoded]]:
    rows: list[Encoded] = []
    for doc in pool:
        if rows and (len(rows) + 1) * (len(doc.ids) + 2) > budget_tokens:
            yield rows
            rows = []
        rows.append(doc)
    yield rows


def _crop(doc: Encoded, random: np.random.Generator) -> Encoded:
    size = int(random.choice(CROP_TOKENS))
    if len(doc.ids) <= size:
        return doc
    start = int(random.integers(len(doc.ids) - size + 1)) if random.random() < 0.7 else 0
    return Encoded(doc.ids[start : start + size], doc.tags[start : start + size], doc.open_tags, doc.source)


def _batch(docs: Sequence[Encoded], special: SpecialIds, random: np.random.Generator) -> Batch:
    length = max(len(doc.ids) for doc in docs) + 2
    shape = (len(docs), length)
    ids, mask = np.full(shape, special.pad), np.zeros(shape, dtype=np.int64)
    tags = np.full(shape, IGNORED)
    for row, doc in enumerate(docs):
        size = len(doc.ids)
        ids[row, : size + 2] = (special.begin, *_with_unknowns(doc.ids, special.unknown, random), special.end)
        tags[row, 1 : size + 1] = doc.tags
        mask[row, : size + 2] = 1
    shift = int(random.integers(512 - length + 1)) if random.random() < 0.3 else 0
    positions = np.broadcast_to(np.arange(shift, shift + length), shape).copy()
    open_tags = np.stack([doc.open_tags for doc in docs])
    return Batch(*(torch.from_numpy(array) for array in (ids, mask, positions, tags, open_tags)))


def _with_unknowns(ids: np.ndarray, unknown: int, random: np.random.Generator) -> np.ndarray:
    """Word dropout: a few tokens become unknown, so that the model learns to use the context."""
    rate = 0.03 if random.random() < 0.5 else 0.0
    return np.where(random.random(len(ids)) < rate, unknown, ids)
