"""DeBERTa's disentangled attention over packed rows: scores by content, and by the distance of query and key.

    score[i, j] = (q_i · k_j + q_i · P[i - j] + k_j · R[i - j]) × scaling

P and R are what a layer's key and query projections make of its table of relative positions. They depend on weights
alone, so they are computed once, at load. For a block of queries q · P is one product, of each query and each distance;
it is read as a skewed view, in which the places of one key are beside each other, so nothing is gathered for each pair.

Blocks are planned once for a batch: sequences of one rounded length are computed together, as far as their scores fit a
limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from service.engine.encoder.packed_batch import PackedBatch
from service.families.engine.checkpoint import to_device

BLOCK_SCORES = 1 << 24
"""Most attention scores of one block, all heads and sequences together."""
STEP_TOKENS = 64
"""Multiple to which lengths are rounded up, so that more sequences have the same."""


@dataclass(frozen=True, slots=True)
class Group:
    """Sequences of one rounded length.

    Attributes:
        first: the place of its first token among those of all groups.
        count, size: number of sequences, and places of each.
        block: queries and keys that are computed at a time.
        padding: [count, 1, size] bool, True behind a sequence's end; None without such places.
    """

    first: int
    count: int
    size: int
    block: int
    padding: torch.Tensor | None


@dataclass(frozen=True, slots=True)
class Plan:
    """The places of a batch's tokens in attention.

    Attributes:
        groups: groups in the order of their places.
        rows: [places] row that each place reads; behind a sequence's end another row of it.
        places: [total] place of each row.
        down, up: [2 × longest] row of the relative table for each distance, from longest - 1 down, and from
            1 - longest up.
        longest: size of the largest group.
    """

    groups: tuple[Group, ...]
    rows: torch.Tensor
    places: torch.Tensor
    down: torch.Tensor
    up: torch.Tensor
    longest: int


@dataclass(frozen=True, slots=True)
class RelativePositions:
    """Mapping of distances to rows of the relative table: each has its own, or distant ones share `buckets`.

    Attributes:
        rows: half of the table's rows.
        buckets: number of buckets; 0 without.
        farthest: distance of the last bucket.
    """

    rows: int
    buckets: int
    farthest: int

    def slots(self, distances: range) -> npt.NDArray[np.int64]:
        """Find the table's row for each distance of a query from a key; at buckets' borders rounded as by torch."""
        found = torch.tensor(distances)
        if self.buckets:
            middle = self.buckets // 2
            size = found.abs().clamp(min=middle)
            scale = torch.tensor((self.farthest - 1) / middle).log()
            bucket = ((size / middle).log() / scale * (middle - 1)).ceil() + middle
            found = torch.where(found.abs() <= middle, found, (bucket * found.sign()).long())
        return (found + self.rows).clamp(0, 2 * self.rows - 1).numpy()


@lru_cache(maxsize=256)
def _slots(positions: RelativePositions, longest: int) -> npt.NDArray[np.int64]:
    """Find the table's rows for all distances in a sequence: from the largest down, then from the least up."""
    down, up = range(longest - 1, -longest - 1, -1), range(1 - longest, longest + 1)
    return np.concatenate([positions.slots(down), positions.slots(up)])


def plan_groups(batch: PackedBatch, heads: int, positions: RelativePositions) -> Plan:
    """Plan a batch without waiting for the device."""
    lengths, starts = np.diff(batch.borders), np.asarray(batch.borders[:-1])
    parts = list(_parts(lengths, heads))
    firsts = [0, *accumulate(size * len(members) for size, members in parts)]
    rows, behind = np.empty(firsts[-1], dtype=np.int64), np.empty(firsts[-1], dtype=np.int64)
    for (first, last), (size, members) in zip(pairwise(firsts), parts, strict=True):
        place, length = np.arange(size), lengths[members, None]
        rows[first:last] = (starts[members, None] + np.minimum(place, length - 1)).ravel()
        behind[first:last] = (place >= length).ravel()
    places = np.empty(batch.borders[-1], dtype=np.int64)
    places[rows[behind == 0]] = np.flatnonzero(behind == 0)
    longest = max(size for size, _ in parts)
    whole = to_device(np.concatenate([rows, behind, places, _slots(positions, longest)]), batch.input_ids.device)
    sizes = [len(rows), len(rows), len(places), 2 * longest, 2 * longest]
    read, hidden, written, down, up = torch.split(whole, sizes)
    groups = []
    for (first, last), (size, members) in zip(pairwise(firsts), parts, strict=True):
        count = len(members)
        padding = hidden[first:last].view(count, 1, size).bool() if behind[first:last].any() else None
        groups.append(Group(first, count, size, _block(heads * count * size), padding))
    return Plan(tuple(groups), read, written, down, up, longest)


def _parts(lengths: npt.NDArray[np.int64], heads: int) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
    """Yield the rounded length and the sequences of each group."""
    sizes = -(-lengths // STEP_TOKENS) * STEP_TOKENS
    for size in np.unique(sizes).tolist():
        members, most = np.flatnonzero(sizes == size), max(1, BLOCK_SCORES // (heads * size**2))
        yield from ((size, members[at : at + most]) for at in range(0, len(members), most))


def _block(scores: int) -> int:
    """Compute the queries of a block; `scores`: of one query in all heads and sequences."""
    return max(1, BLOCK_SCORES // (scores * STEP_TOKENS)) * STEP_TOKENS


class DisentangledAttention(nn.Module):
    """Attention of one layer, without the product after it.

    Args:
        qkv: query, key and value as one product.
        by_key, by_query: P, and R times the scaling, [heads, rows of the table, head_size]; None without the term.
    """

    def __init__(
        self,
        qkv: nn.Linear,
        heads: int,
        scaling: float,
        positions: RelativePositions,
        *,
        by_key: torch.Tensor | None,
        by_query: torch.Tensor | None,
    ) -> None:
        super().__init__()
        self.qkv = qkv
        self.heads = heads
        self.scaling = scaling
        self.positions = positions
        self.by_key = None if by_key is None else nn.Parameter(by_key, requires_grad=False)
        self.by_query = None if by_query is None else nn.Parameter(by_query, requires_grad=False)

    def plan(self, batch: PackedBatch) -> Plan:
        """Plan a batch for this layer and all like it."""
        return plan_groups(batch, self.heads, self.positions)

    def forward(self, rows: torch.Tensor, plan: Plan) -> torch.Tensor:
        """[total, hidden] of a batch → [total, heads × head_size]."""
        places: torch.Tensor = self.qkv(rows).index_select(0, plan.rows)
        by_key = None if self.by_key is None else self.by_key.index_select(1, plan.down)
        by_query = None if self.by_query is None else self.by_query.index_select(1, plan.up)
        mixed = places.new_empty(places.shape[0], self.heads, places.shape[1] // (3 * self.heads))
        for group in plan.groups:
            some = slice(group.first, group.first + group.count * group.size)
            near = slice(plan.longest - group.size, plan.longest + group.size)
            tables = [None if each is None else each[:, near].transpose(1, 2) for each in (by_key, by_query)]
            qkv = places[some].view(group.count, group.size, 3, self.heads, -1).permute(2, 3, 0, 1, 4)
            self._attend(qkv, group, *tables, out=mixed[some].view(group.count, group.size, self.heads, -1))
        return mixed.index_select(0, plan.places).flatten(1)

    def _attend(
        self,
        qkv: torch.Tensor,
        group: Group,
        by_key: torch.Tensor | None,
        by_query: torch.Tensor | None,
        *,
        out: torch.Tensor,
    ) -> None:
        """Compute a group.

        Args:
            qkv: [3, heads, count, size, head_size].
            by_key, by_query: [heads, head_size, 2 × size], P from the largest distance down, R from the least up.
            out: [count, size, heads, head_size], filled by this call.
        """
        query, key, value = qkv[0] * self.scaling, qkv[1].contiguous(), qkv[2].contiguous()
        for start in range(0, group.size, group.block):
            stop = min(start + group.block, group.size)
            some = query[:, :, start:stop]
            scores = torch.matmul(some, key.transpose(2, 3))
            if by_key is not None:
                scores += _skewed(some, by_key[:, :, group.size - stop : 2 * group.size - start], group.size)
            if by_query is not None:
                for first in range(0, group.size, group.block):
                    last = min(first + group.block, group.size)
                    near = by_query[:, :, group.size + start - last : group.size + stop - first]
                    scores[..., first:last] += _skewed(key[:, :, first:last], near, stop - start).transpose(2, 3)
            if group.padding is not None:
                scores.masked_fill_(group.padding, float("-inf"))
            out[:, start:stop] = torch.matmul(torch.softmax(scores, dim=-1), value).permute(1, 2, 0, 3)


def _skewed(rows: torch.Tensor, table: torch.Tensor, columns: int) -> torch.Tensor:
    """Multiply rows by a table by distance, and shift each row's products one place left of the next row's.

    Args:
        rows: [heads, count, n, head_size].
        table: [heads, head_size, n + columns]; the last column is not used: kernels like even numbers.

    Returns:
        [heads, count, n, columns], a view: row i has the products from n - 1 - i on.
    """
    heads, count, n, _ = rows.shape
    products = torch.matmul(rows.flatten(1, 2), table)
    width = products.shape[2]
    strides = (count * n * width, n * width, width - 1, 1)
    return products.as_strided((heads, count, n, columns), strides, n - 1)
