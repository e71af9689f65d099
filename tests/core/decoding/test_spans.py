from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.core.arrays import Logits
from service.core.decoding.spans import (
    MASKED,
    MOST_BEATEN_BY_LOW,
    MOST_SPAN_WORDS,
    Candidates,
    Overlaps,
    boundary_candidates,
    choose,
    grid_candidates,
    keep_window,
    over_limits,
    pool_candidates,
)
from service.core.decoding.windows import Window


def sigmoid(x: float) -> float:
    return float(np.float32(1) / (np.float32(1) + np.exp(-np.float32(x))))


def candidates(*rows: tuple[float, float, float, float]) -> Candidates:
    return np.array(rows, dtype=np.float32).reshape(-1, 4)


@given(
    st.integers(1, 5), st.integers(1, 3), st.integers(1, 2), st.integers(0, 99), st.sampled_from([0.0, 0.3, 0.5, 1.0])
)
def test_a_grid_gives_every_span_within_the_text_that_is_likely_enough(
    words: int, width: int, labels: int, seed: int, limit: float
) -> None:
    grid = np.random.default_rng(seed).normal(0, 3, (words, width * labels)).astype(np.float32)
    found = {tuple(row[:3]): row[3] for row in grid_candidates(grid, width, limit).tolist()}
    wanted = {
        (i, i + k + 1, c): score
        for i, k, c in itertools.product(range(words), range(width), range(labels))
        if i + k < words and (score := sigmoid(grid[i, k * labels + c])) >= np.float32(limit)
    }
    assert found == pytest.approx(wanted)


def test_what_is_masked_is_no_candidate_of_any_limit() -> None:
    grid = np.array([[MASKED * 2, -9.0], [MASKED * 2, MASKED * 2]], dtype=np.float32)
    assert grid_candidates(grid, 1, 0.0)[:, :3].tolist() == [[0, 1, 1]]


def test_of_a_pool_each_label_that_is_likely_enough_is_a_candidate() -> None:
    pool = np.array([[0, 2, 3.0, -3.0], [1, 2, MASKED * 2, 1.0]], dtype=np.float32)
    assert pool_candidates(pool, 0.5)[:, :3].tolist() == [[0, 2, 0], [1, 2, 1]]
    assert pool_candidates(pool, 0.0)[:, :3].tolist() == [[0, 2, 0], [0, 2, 1], [1, 2, 1]]


def every_span(scores: Logits, limits: list[float]) -> Candidates:
    """Those of starts, ends and insides, by the definition."""
    found = []
    for c, limit in enumerate(limits):
        start, end, inside = ([sigmoid(x) for x in scores[:, c * 3 + part]] for part in range(3))
        for i, j in itertools.combinations_with_replacement(range(len(scores)), 2):
            score = min(start[i], end[j], *inside[i : j + 1])
            if score >= np.float32(limit):
                found.append((i, j + 1, c, score))
    return candidates(*found)


@given(
    st.integers(0, MOST_BEATEN_BY_LOW),
    st.integers(0, 99),
    st.sampled_from([[0.0], [0.4, 0.0], [1.0, 0.3], [0.5, 0.5]]),
    st.sampled_from(list(Overlaps)),
)
@example(words=MOST_BEATEN_BY_LOW, seed=0, limits=[0.4, 0.0], overlaps=Overlaps.NESTED)
def test_a_span_starts_ends_and_is_inside(words: int, seed: int, limits: list[float], overlaps: Overlaps) -> None:
    scores = np.random.default_rng(seed).normal(0, 3, (words, len(limits) * 3)).astype(np.float32)
    found, every = boundary_candidates(scores, limits, overlaps), every_span(scores, limits)
    known = {tuple(row[:3]): row[3] for row in every.tolist()}
    assert {tuple(row[:3]): row[3] for row in found.tolist()} == pytest.approx(
        {place: score for place, score in known.items() if overlaps.keeps_beaten or not _is_beaten(place, score, known)}
    )
    assert choose(found, overlaps).tolist() == choose(every, overlaps).tolist()


def _is_beaten(place: tuple[float, ...], score: float, known: dict[tuple[float, ...], float]) -> bool:
    start, stop, label = place
    return any(i == start and c == label and j < stop and other >= score for (i, j, c), other in known.items())


@pytest.mark.parametrize("overlaps", [Overlaps.FLAT, Overlaps.PER_LABEL])
def test_what_a_low_limit_leaves_out_changes_no_answer(overlaps: Overlaps) -> None:
    grid = np.random.default_rng(0).normal(0, 1, (30, 12 * 25)).astype(np.float32)
    places = [(i, k, c) for i, k, c in np.ndindex(30, 12, 25) if i + k < 30]
    every = candidates(*((i, i + k + 1, c, sigmoid(grid[i, k * 25 + c])) for i, k, c in places))
    found = grid_candidates(grid, 12, 0.0)
    assert len(found) < 0.9 * len(every)
    limits = [0.6, *[0.0] * 24]  # One label's limit says nothing of another's entities.
    chosen = choose(over_limits(found, limits), overlaps)
    assert np.allclose(chosen, choose(over_limits(every, limits), overlaps))


def test_beaten_spans_of_a_start_and_label_stay_if_they_are_among_its_best() -> None:
    grid = np.full((12, 12), -2.0, dtype=np.float32)
    grid[0], grid[1] = np.arange(12, 0, -1), np.arange(1, 13)
    found = grid_candidates(grid, 12, 0.09)
    assert found[found[:, 0] == 0][:, 1].tolist() == [*range(1, MOST_BEATEN_BY_LOW + 1)]
    assert (found[:, 0] == 1).sum() == 11, "none is beaten"
    assert (grid_candidates(grid, 12, 0.5)[:, 0] == 0).sum() == 12, "nothing is left out of a usual limit"


def test_a_long_span_costs_no_more_than_its_words() -> None:
    scores = np.full((3_000, 3), 9.0, dtype=np.float32)
    scores[:, 1] = -9.0
    scores[-1, 1] = 9.0
    found = boundary_candidates(scores, [0.5], Overlaps.FLAT)
    assert found[:, 0].min() == len(scores) - MOST_SPAN_WORDS
    assert (found[:, 1] == len(scores)).all()


def test_a_window_keeps_what_has_its_middle_in_the_kept_part() -> None:
    rows = candidates((0, 3, 0, 0.5), (0, 4, 1, 0.6), (3, 8, 1, 0.6), (4, 8, 0, 0.7), (5, 6, 0, 0.7))
    found = keep_window(rows, Window(10, 20, 12, 16), range(5, 7))
    assert found[:, :3].tolist() == [[10, 14, 6], [13, 18, 6], [15, 16, 5]]


def test_each_label_has_its_own_limit() -> None:
    found = over_limits(candidates((0, 1, 0, 0.5), (0, 1, 1, 0.5), (2, 3, 1, 0.9)), [0.4, 0.8])
    assert found[:, 2].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("overlaps", "kept"),
    [
        (Overlaps.FLAT, [(0, 4, 0)]),
        (Overlaps.NESTED, [(0, 4, 0), (1, 2, 1)]),
        (Overlaps.PER_LABEL, [(0, 4, 0), (1, 2, 1), (2, 6, 1)]),
        (Overlaps.FLAT_MULTI_LABEL, [(0, 4, 0), (0, 4, 1)]),
        (Overlaps.NESTED_MULTI_LABEL, [(0, 4, 0), (0, 4, 1), (1, 2, 1)]),
    ],
)
def test_overlaps_decide_what_goes_together(overlaps: Overlaps, kept: list[tuple[int, int, int]]) -> None:
    found = candidates((0, 4, 0, 0.9), (0, 4, 1, 0.8), (1, 2, 1, 0.7), (2, 6, 1, 0.6))
    assert [tuple(row) for row in choose(found, overlaps)[:, :3].astype(int).tolist()] == kept


rows = st.lists(
    st.tuples(st.integers(0, 9), st.integers(1, 4), st.integers(0, 2), st.integers(1, 9)), unique_by=lambda row: row[:3]
)


@given(rows, st.sampled_from([each for each in Overlaps if each is not Overlaps.PER_LABEL]))
def test_a_choice_is_greedy_and_does_not_depend_on_the_order(
    drawn: list[tuple[int, int, int, int]], overlaps: Overlaps
) -> None:
    found = candidates(*((start, start + length, label, score / 10) for start, length, label, score in drawn))
    wanted: list[tuple[int, ...]] = []
    for row in sorted(found.tolist(), key=lambda row: (-row[3], row[0], row[1], row[2])):
        if not any(_clash(row, other, overlaps) for other in wanted):
            wanted.append(tuple(row))
    chosen = choose(found, overlaps)
    assert sorted(map(tuple, chosen.tolist())) == sorted(wanted)
    assert chosen[:, 0].tolist() == sorted(chosen[:, 0].tolist())
    assert choose(found[::-1].copy(), overlaps).tolist() == chosen.tolist()


def _clash(a: list[float], b: tuple[float, ...], overlaps: Overlaps) -> bool:
    apart = a[0] >= b[1] or a[1] <= b[0]
    if a[:2] == list(b[:2]):
        return not overlaps.allows_equal
    if overlaps in (Overlaps.NESTED, Overlaps.NESTED_MULTI_LABEL):
        return not apart and not (a[0] <= b[0] and b[1] <= a[1]) and not (b[0] <= a[0] and a[1] <= b[1])
    return not apart


@given(rows)
def test_each_label_has_the_disjoint_spans_of_the_greatest_total(drawn: list[tuple[int, int, int, int]]) -> None:
    found = candidates(*((start, start + length, label, score / 10) for start, length, label, score in drawn[:10]))
    chosen = choose(found, Overlaps.PER_LABEL)
    assert choose(found[::-1].copy(), Overlaps.PER_LABEL).tolist() == chosen.tolist()
    for label in range(3):
        own, kept = found[found[:, 2] == label], chosen[chosen[:, 2] == label]
        assert _total(kept) == pytest.approx(max(map(_total, _subsets(own))), abs=1e-5)


@given(rows)
@example([(0, 4, 0, 9), (0, 2, 0, 8), (2, 2, 0, 8)])
def test_each_label_has_its_best_spans_where_no_total_counts(drawn: list[tuple[int, int, int, int]]) -> None:
    found = candidates(*((start, start + length, label, score / 10) for start, length, label, score in drawn))
    chosen = choose(found, Overlaps.PER_LABEL, by_total=False)
    alone = [choose(found[found[:, 2] == label], Overlaps.FLAT) for label in range(3)]
    assert sorted(chosen.tolist()) == sorted(np.concatenate(alone).tolist())


def _subsets(own: Candidates) -> list[Candidates]:
    picks = itertools.product([False, True], repeat=len(own))
    return [own[np.array(pick, dtype=np.bool_)] for pick in picks]


def _total(spans: Candidates) -> float:
    """Sum of their scores; negative if two share a word."""
    pairs = itertools.combinations(spans.tolist(), 2)
    return -1.0 if any(a[0] < b[1] and b[0] < a[1] for a, b in pairs) else float(spans[:, 3].sum())
