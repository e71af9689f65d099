from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from service.core.arrays import Logits
from service.core.decoding.records import (
    MOST_SEEDS,
    Cardinality,
    RecordKind,
    SpanRecord,
    condense_records,
    is_record_pool,
    text_records,
    window_records,
)
from service.core.decoding.windows import Window

SURE, LIKELY, UNSURE, NO = 4.0, 1.0, -1.0, -9.0
Shown = list[tuple[float, list[list[tuple[int, int]]]]]


def kind(*cardinalities: Cardinality, limit: float = 0.5, limits: Sequence[float] = (), start: int = 0) -> RecordKind:
    least = tuple(limits) or tuple(0.0 if each.is_required else limit for each in cardinalities)
    return RecordKind("row", range(start, start + len(cardinalities)), cardinalities, limit, least)


def pool(
    spans: Sequence[tuple[int, int]],
    fits: Sequence[Sequence[float]],
    by_seed: Sequence[Sequence[float]],
    none: Sequence[float] = (),
) -> Logits:
    """A pool in which each span may be a seed.

    Args:
        fits: of each span, a score for each field.
        by_seed: of each span, the score that it stands in the record of each span.
        none: of each seed, the score that a field of it has no value.
    """
    fields = len(fits[0])
    absent = [-1.0] * (3 + fields) + [0.0] * fields + list(none or [0.0] * len(spans))
    rows = [[*span, 1.0, *own, *[0.0] * fields, *seeds] for span, own, seeds in zip(spans, fits, by_seed, strict=True)]
    return np.array([absent, *rows], dtype=np.float32)


def shown(records: list[SpanRecord]) -> Shown:
    return [
        (
            round(record.score, 3),
            [[(int(value[0]), int(value[1])) for value in field] for field in record.values],
        )
        for record in records
    ]


def found(matrix: Logits, *kinds: RecordKind, scale: float = 1.0) -> Shown:
    least = min(each.limit for each in kinds)
    return shown(window_records(condense_records(matrix, least, scale), kinds, scale))


ONE, MANY = Cardinality.OPTIONAL_ONE, Cardinality.ZERO_OR_MORE
FIRST, SECOND, LEFT, RIGHT = (0, 1), (5, 6), (2, 3), (7, 9)
SPANS = [FIRST, SECOND, LEFT, RIGHT]
FITS = [[SURE, NO], [LIKELY, NO], [NO, SURE], [NO, SURE]]
"""Two seeds, and two spans that fit the second field."""


def claims(*of_values: tuple[float, float]) -> list[list[float]]:
    """How much `LEFT` and `RIGHT` stand in the records of `FIRST` and of `SECOND`."""
    return [[NO] * 4, [NO] * 4, *([*each, NO, NO] for each in of_values)]


def test_values_of_one_each_are_shared_out_together() -> None:
    """Both records want the left span most; the second one has no other."""
    matrix = pool(SPANS, FITS, claims((SURE, SURE), (LIKELY, NO)), none=[NO] * 4)
    loose = kind(ONE, ONE, limit=0.04)
    assert found(matrix, loose) == [(0.982, [[FIRST], [RIGHT]]), (0.731, [[SECOND], [LEFT]])]


def test_a_value_that_may_be_absent_is_where_none_is_surer() -> None:
    matrix = pool(SPANS, FITS, claims((UNSURE, NO), (NO, LIKELY)))
    assert found(matrix, kind(ONE, ONE)) == [(0.982, [[FIRST], []]), (0.731, [[SECOND], [RIGHT]])]


def test_a_required_value_is_given_however_unsure() -> None:
    matrix = pool(SPANS, [*FITS[:2], [NO, NO], [NO, NO]], claims((NO, UNSURE), (NO, NO)), none=[SURE] * 4)
    required = kind(Cardinality.REQUIRED_ONE, Cardinality.REQUIRED_ONE)
    assert all(len(each) == 1 for _, fields in found(matrix, required) for each in fields)
    assert found(matrix, kind(ONE, ONE)) == [(0.982, [[FIRST], []]), (0.731, [[SECOND], []])]


def test_a_span_of_several_goes_to_the_record_that_wants_it_most() -> None:
    matrix = pool(SPANS, FITS, claims((LIKELY, SURE), (UNSURE, NO)))
    assert found(matrix, kind(MANY, MANY)) == [(0.982, [[FIRST], []]), (0.731, [[SECOND], [LEFT]])]
    more = kind(MANY, Cardinality.ONE_OR_MORE, limit=0.2)
    assert found(matrix, more)[0] == (0.982, [[FIRST], [RIGHT]])


def test_values_of_a_record_share_no_words_and_the_greatest_total_stays() -> None:
    spans = [FIRST, (2, 5), (2, 3), (3, 5), (8, 9)]
    fits = [[SURE, NO], *[[NO, SURE]] * 4]
    matrix = pool(spans, fits, [[NO] * 5, *([score, *[NO] * 4] for score in (SURE, LIKELY, LIKELY, UNSURE))])
    assert found(matrix, kind(MANY, MANY)) == [(0.982, [[FIRST], [(2, 3), (3, 5)]])]


def test_a_value_scores_the_least_of_both_probabilities() -> None:
    matrix = pool(SPANS, [*FITS[:2], [NO, LIKELY], [NO, SURE]], claims((SURE, NO), (LIKELY, NO)))
    (first, _) = window_records(condense_records(matrix, 0.5, 1.0), [kind(MANY, MANY)], 1.0)
    assert [round(float(value[3]), 3) for value in first.values[1]] == [0.731, 0.731]
    assert found(matrix, kind(MANY, MANY, limits=(0.5, 0.8)))[0] == (0.982, [[FIRST], []])


def test_a_record_needs_a_seed_and_a_first_value_over_the_limits() -> None:
    matrix = pool(SPANS, FITS, claims((NO, NO), (NO, NO)))
    assert found(matrix, kind(MANY, MANY, limit=0.99)) == []
    assert found(matrix, kind(MANY, MANY, limits=(0.8, 0.5))) == [(0.982, [[FIRST], []])]
    assert [score for score, _ in found(matrix, kind(MANY, MANY), scale=2.0)] == [1.0, 0.881]


def test_kinds_have_fields_of_their_own() -> None:
    fits = [[SURE, NO, NO], [NO, NO, SURE], [NO, SURE, NO], [NO, SURE, LIKELY]]
    matrix = pool(SPANS, fits, claims((SURE, NO), (NO, NO)))
    kinds = kind(MANY, MANY), kind(MANY, start=2)
    assert found(matrix, *kinds) == [(0.982, [[FIRST], [LEFT]]), (0.982, [[SECOND]]), (0.731, [[RIGHT]])]
    assert [each.kind for each in window_records(condense_records(matrix, 0.5, 1.0), kinds, 1.0)] == [0, 1, 1]


def test_what_is_no_span_and_makes_no_record_is_left_out() -> None:
    matrix = pool(SPANS, [*FITS[:2], [NO, UNSURE], [NO, UNSURE]], claims((SURE, NO), (NO, LIKELY)))
    padded = np.insert(np.insert(matrix, 3, 0.0, axis=0), 9, 7.0, axis=1)
    least = condense_records(padded, 0.5, 1.0)
    assert least.shape == (5, 3 + 2 * 2 + 2)
    assert (least == condense_records(matrix, 0.5, 1.0)).all()
    assert is_record_pool(least)
    assert not is_record_pool(least[1:])
    assert not is_record_pool(least[:0])


def test_the_surest_make_records_where_a_window_has_too_many() -> None:
    count = MOST_SEEDS + 6
    spans = [(number, number + 1) for number in range(count)]
    fits = [[1 + number / count] for number in range(count)]
    matrix = pool(spans, fits, [[0.0] * count] * count)
    records = found(matrix, kind(MANY))
    assert sorted(fields[0][0] for _, fields in records) == spans[6:]


WINDOWS = (Window(0, 20, 0, 15), Window(10, 30, 15, 30))


def test_records_of_windows_count_once_and_are_in_order() -> None:
    early = pool([(16, 17), (3, 4)], [[SURE], [SURE]], [[0.0, 0.0]] * 2)
    late = pool([(6, 7), (2, 3)], [[SURE], [SURE]], [[0.0, 0.0]] * 2)
    records = text_records([condense_records(each, 0.5, 1.0) for each in (early, late)], WINDOWS, [kind(MANY)], 1.0)
    assert shown(records) == [(0.982, [[(3, 4)]]), (0.982, [[(16, 17)]])]


@pytest.mark.parametrize(("early", "late", "owner"), [(SURE, LIKELY, 0), (LIKELY, SURE, 1), (SURE, SURE, 0)])
def test_a_value_that_two_windows_give_is_the_surer_record_s(early: float, late: float, owner: int) -> None:
    fits = [[SURE, NO], [NO, SURE]]
    first = pool([(12, 13), (14, 16)], fits, [[NO, NO], [early, NO]])
    second = pool([(8, 9), (4, 6)], fits, [[NO, NO], [late, NO]])
    pools = [condense_records(each, 0.5, 1.0) for each in (first, second)]
    records = shown(text_records(pools, WINDOWS, [kind(MANY, MANY)], 1.0))
    assert [fields[0] for _, fields in records] == [[(12, 13)], [(18, 19)]]
    assert [len(fields[1]) for _, fields in records] == [1 - owner, owner]


def test_a_text_of_one_window_is_that_window() -> None:
    matrix = condense_records(pool(SPANS, FITS, claims((SURE, NO), (NO, LIKELY))), 0.5, 1.0)
    whole = text_records([matrix], [Window(0, 12, 0, 12)], [kind(MANY, MANY)], 1.0)
    assert shown(whole) == shown(window_records(matrix, [kind(MANY, MANY)], 1.0))
