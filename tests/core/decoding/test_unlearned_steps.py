from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from service.core.decoding import transitions
from service.core.decoding.tag_scheme import Scheme
from tests.support.tag_paths import SCHEMES, Rows, random_case, textbook_path


def best_path(rows: Rows, scheme: Scheme) -> NDArray[np.intp]:
    return transitions.best_path(transitions.unlearned(scheme), rows)


def is_valid(path: NDArray[np.intp], scheme: Scheme) -> bool:
    inner = scheme.allowed[path[:-1], path[1:]].all()
    return bool(scheme.may_begin[path[0]] and scheme.may_end[path[-1]] and inner)


def score(path: NDArray[np.intp], rows: Rows) -> float:
    return float(rows[np.arange(len(path)), path].astype(np.float64).sum())


@given(
    st.sampled_from(sorted(SCHEMES)),
    st.integers(0, 2**32 - 1),
    st.integers(1, 60),
    st.sampled_from([0.3, 1.0, 4.0]),
    st.sampled_from([-3.0, 0.0, 2.0]),
)
@settings(deadline=None, max_examples=300)
def test_the_path_is_the_textbook_one(name: str, seed: int, tokens: int, spread: float, outside: float) -> None:
    scheme = SCHEMES[name]
    rows, _ = random_case(seed, tokens, scheme, spread, outside)
    path = best_path(rows, scheme)
    assert is_valid(path, scheme)
    assert (path == textbook_path(rows, scheme)).all()


@given(st.sampled_from(["BI", "BIES", "without O"]), st.integers(0, 2**32 - 1), st.integers(1, 20))
@settings(deadline=None)
def test_with_ties_the_path_is_valid_and_its_score_the_best(name: str, seed: int, tokens: int) -> None:
    scheme = SCHEMES[name]
    rows = np.random.default_rng(seed).integers(0, 3, (tokens, len(scheme.labels))).astype(np.float32)
    path = best_path(rows, scheme)
    assert is_valid(path, scheme)
    assert score(path, rows) == score(textbook_path(rows, scheme), rows)


def test_no_path_among_all_of_them_is_better() -> None:
    scheme = SCHEMES["without O"]
    for seed in range(20):
        rows = random_case(seed, 5, scheme)[0]
        paths = [np.array(path) for path in product(range(4), repeat=5)]
        best = max(score(path, rows) for path in paths if is_valid(path, scheme))
        assert score(best_path(rows, scheme), rows) == best


@pytest.mark.parametrize("name", ["BI", "BIES"])
def test_a_document_that_is_broken_throughout_is_solved_whole(name: str) -> None:
    scheme = SCHEMES[name]
    rows = random_case(7, 2_000, scheme, 0.1)[0]
    rows[:, [scheme.labels.index("I-X"), scheme.labels.index("I-Y")]] += 4
    assert (best_path(rows, scheme) == textbook_path(rows, scheme)).all()


def test_a_constant_added_to_a_row_changes_nothing() -> None:
    scheme = SCHEMES["BIES"]
    rows = random_case(3, 200, scheme)[0]
    shifted = rows + np.random.default_rng(4).integers(-8, 8, (200, 1)).astype(np.float32)
    assert (best_path(rows, scheme) == best_path(shifted, scheme)).all()


def test_a_document_without_tokens_has_an_empty_path() -> None:
    assert best_path(np.empty((0, 3), dtype=np.float32), SCHEMES["BI"]).tolist() == []


@given(st.sampled_from(sorted(SCHEMES)), st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(9, 20))
@settings(deadline=None, max_examples=100)
def test_many_broken_segments_have_the_paths_that_each_has_alone(
    letters: str, seed: int, tokens: int, repeats: int
) -> None:
    scheme = SCHEMES[letters]
    if scheme.labels[0] != "O":
        return
    rows = random_case(seed, tokens, scheme)[0]
    rows[[0, -1], 0] = 100.0
    assert best_path(np.tile(rows, (repeats, 1)), scheme).tolist() == best_path(rows, scheme).tolist() * repeats
