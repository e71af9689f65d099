"""Records: a pool of spans to records, each with the values of its fields, by the rules of `gliner2` (2.1).

A pool is a matrix of float32, `[1 + spans, 3 + 2 * fields + seeds]`. Each row but the first is a span:

    first word · the word after the last one · 1 if it is a seed, which may begin a record
    a score for each field: how it fits
    for each field, and for each seed: two parts of a score, which are added: that it stands in that seed's record

The first row, which begins with -1, has the parts that say that there is no value. The rules:

- A seed whose probability for the first field of a kind is not below the limit makes a record of that kind.
- A value stands in one record alone. Of a field that has one, the values of all records are those of the greatest
  product of probabilities. Of a field that has several, each span goes to the record that it most probably stands in,
  if that is not below the limit; of those of one record that share words the greatest total stays.
- A value's score is the least of the probabilities that it fits its field and that it stands in its record.
- A record counts in the window that keeps the middle of its first field. Of records of several windows that claim the
  same value the surer one has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from service.core.arrays import Logits
from service.core.decoding.assignment import least_total
from service.core.decoding.spans import Candidates, Overlaps, choose, keep_window, probabilities
from service.core.decoding.windows import Window

PLACE_COLUMNS = 3
MOST_SEEDS = 64
"""Records of one kind in a window, the surest: it takes long to share values out, and no page has so many."""
_LEAST_PROBABILITY = np.finfo(np.float32).eps
_NEVER, _FORBIDDEN = 50.0, 1_000.0
"""How much more than any value it costs that a required one is absent, and what cannot be."""


class Cardinality(StrEnum):
    """How many values a field has in a record."""

    ZERO_OR_MORE = "zero_or_more"
    ONE_OR_MORE = "one_or_more"
    OPTIONAL_ONE = "optional_one"
    REQUIRED_ONE = "required_one"

    @property
    def is_one(self) -> bool:
        """True where there is at most one."""
        return self in (Cardinality.OPTIONAL_ONE, Cardinality.REQUIRED_ONE)

    @property
    def is_required(self) -> bool:
        """True where there is at least one."""
        return self in (Cardinality.ONE_OR_MORE, Cardinality.REQUIRED_ONE)


@dataclass(frozen=True, slots=True)
class RecordKind:
    """One kind of records.

    Attributes:
        fields: the numbers of its fields among those of all kinds.
        limit: the least probability of a record, and of a value that stands in one.
        limits: the least score of a value of each field.
    """

    name: str
    fields: range
    cardinalities: tuple[Cardinality, ...]
    limit: float
    limits: tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SpanRecord:
    """A record: the number of its kind, its probability, and the values of each field."""

    kind: int
    score: float
    values: tuple[Candidates, ...]


class _Pool(NamedTuple):
    places: Logits
    seeds: NDArray[np.intp]
    fits: Logits
    by_field: Logits
    by_seed: Logits


class _Shares(NamedTuple):
    """Spans of a field that stand in records: the numbers of both, and the probability."""

    records: NDArray[np.intp]
    spans: NDArray[np.intp]
    sure: Logits


def is_record_pool(scores: Logits) -> bool:
    """True for a matrix of this form; False for a pool that is scored by label alone."""
    return bool(len(scores) and scores[0, 0] < 0)


def condense_records(pool: Logits, limit: float, scale: float) -> Logits:
    """A pool with those spans as seeds that may make a record; what is marked as no seed before is no span, and goes.

    Args:
        limit: the least probability of a record.
        scale: by how much a score for a first field is multiplied to say how sure a record is.
    """
    fields = (pool.shape[1] - PLACE_COLUMNS - (len(pool) - 1)) // 2
    seed_column = PLACE_COLUMNS + 2 * fields
    spans = pool[:, 2] > 0
    spans[0] = True
    kept = pool[spans]
    best = scale * kept[1:, PLACE_COLUMNS : PLACE_COLUMNS + fields].max(axis=1, initial=-np.inf)
    seeds = probabilities(best) >= np.float32(limit)
    kept[1:, 2] = seeds
    columns = np.flatnonzero(spans[1:])[seeds]
    return np.concatenate([kept[:, :seed_column], kept[:, seed_column + columns]], axis=1)


def text_records(
    pools: Sequence[Logits], windows: Sequence[Window], kinds: Sequence[RecordKind], scale: float
) -> list[SpanRecord]:
    """The records of a text, by kind and in the order of their first fields.

    Args:
        pools: of each window, condensed by the least limit of the kinds.
        scale: as there.
    """
    found = []
    for pool, window in zip(pools, windows, strict=True):
        for record in window_records(pool, kinds, scale):
            first, *others = record.values
            if len(first := keep_window(first, window, range(0))):
                shift = np.array([window.start, window.start, 0, 0], dtype=np.float32)
                found.append(SpanRecord(record.kind, record.score, (first, *(each + shift for each in others))))
    found.sort(key=lambda record: (record.kind, *record.values[0][0, :2].tolist()))
    return found if len(windows) < 2 else _each_value_once(found)


def window_records(pool: Logits, kinds: Sequence[RecordKind], scale: float) -> list[SpanRecord]:
    """The records of one window, its words counted from its start."""
    count = kinds[-1].fields.stop
    parts = np.split(pool, [PLACE_COLUMNS, PLACE_COLUMNS + count, PLACE_COLUMNS + 2 * count], axis=1)
    read = _Pool(parts[0][1:, :2], np.flatnonzero(parts[0][1:, 2] > 0), parts[1][1:], parts[2], parts[3])
    return [record for number, kind in enumerate(kinds) for record in _records(read, number, kind, scale)]


def _records(pool: _Pool, number: int, kind: RecordKind, scale: float) -> list[SpanRecord]:
    sure = probabilities(scale * pool.fits[pool.seeds, kind.fields.start])
    best = np.argsort(-sure, kind="stable")[:MOST_SEEDS]
    best = best[sure[best] >= np.float32(kind.limit)]
    if not len(best):
        return []
    seeds = _Shares(np.arange(len(best)), pool.seeds[best], sure[best])
    values = [_values(pool, seeds, kind.fields.start, kind.limits[0], len(best))]
    for field, cardinality, limit in [*zip(kind.fields, kind.cardinalities, kind.limits, strict=True)][1:]:
        claims = (pool.by_field[:, [field]] + pool.by_seed[:, best]).T
        shares = _one_each(claims, kind.limit, cardinality) if cardinality.is_one else _all(claims, kind.limit)
        values.append(_values(pool, shares, field, limit, len(best)))
    scores = seeds.sure.tolist()
    return [
        SpanRecord(number, scores[row], tuple(field[row] for field in values))
        for row in range(len(best))
        if len(values[0][row])
    ]


def _values(pool: _Pool, shares: _Shares, field: int, limit: float, records: int) -> list[Candidates]:
    """The values of a field in each record."""
    fits = probabilities(pool.fits[shares.spans, field])
    scores = np.minimum(fits, shares.sure)
    rows = np.column_stack([pool.places[shares.spans], np.full(len(scores), field), scores]).astype(np.float32)
    kept = scores >= np.float32(limit)
    return [choose(rows[kept & (shares.records == record)], Overlaps.PER_LABEL) for record in range(records)]


def _one_each(claims: Logits, limit: float, cardinality: Cardinality) -> _Shares:
    """At most one span for each record, no span twice.

    Args:
        claims: scores `[records, 1 + spans]`; the first is that of none.
    """
    shares = np.exp(claims - claims.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    costs = -np.log(np.maximum(shares, _LEAST_PROBABILITY)).astype(np.float64)
    absent, costs = costs[:, 0], costs[:, 1:]
    if cardinality.is_required:
        absent = np.full(len(costs), costs.max() + _NEVER)
    records, spans = costs.shape
    none = np.full((records, records), max(costs.max(), absent.max()) + _FORBIDDEN)
    np.fill_diagonal(none, absent)
    columns = least_total(np.concatenate([costs, none], axis=1))
    rows = np.flatnonzero(columns < spans)
    sure = shares[rows, 1 + columns[rows]]
    certain = np.full(len(rows), cardinality.is_required) | (sure >= np.float32(limit))
    return _Shares(rows[certain], columns[rows][certain], sure[certain])


def _all(claims: Logits, limit: float) -> _Shares:
    """Every span that stands in some record, in the one that it most probably stands in."""
    shares = probabilities(claims[:, 1:])
    sure = shares.max(axis=0)
    spans = np.flatnonzero(sure >= np.float32(limit))
    return _Shares(shares.argmax(axis=0)[spans], spans, sure[spans])


def _each_value_once(records: list[SpanRecord]) -> list[SpanRecord]:
    """The records without values that a surer one of the same kind has in the same field."""
    owners: dict[tuple[int, ...], tuple[float, int]] = {}
    for number, record in enumerate(records):
        for value in np.concatenate(record.values):
            key = record.kind, *map(int, value[:3])
            owners[key] = max(owners.get(key, (-1.0, 0)), (float(value[3]), -number))
    return [
        SpanRecord(
            record.kind,
            record.score,
            tuple(
                field[[owners[record.kind, *map(int, value[:3])][1] == -number for value in field]]
                for field in record.values
            ),
        )
        for number, record in enumerate(records)
    ]
