from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from service.core.decoding.tag_scheme import Scheme, read_scheme
from service.core.decoding.transitions import Transitions, best_path, unlearned
from tests.support.tag_paths import SCHEMES, Rows, random_case, textbook_path


def score(path: NDArray[np.intp], rows: Rows, scheme: Scheme, steps: NDArray[np.float64]) -> float:
    """A path's score by the definition: words, steps, and the steps from and to the `O` around the document."""
    if not (scheme.may_begin[path[0]] and scheme.may_end[path[-1]] and scheme.allowed[path[:-1], path[1:]].all()):
        return -np.inf
    total = float(rows[np.arange(len(path)), path].astype(np.float64).sum()) + float(steps[path[:-1], path[1:]].sum())
    if "O" in scheme.labels:
        outside = scheme.labels.index("O")
        total += float(steps[outside, path[0]] + steps[path[-1], outside])
    return total


@given(
    st.sampled_from(sorted(SCHEMES)),
    st.integers(0, 2**32 - 1),
    st.integers(1, 60),
    st.sampled_from([0.3, 1.0, 4.0]),
    st.sampled_from([-3.0, 0.0, 2.0]),
    st.sampled_from([0.0, 0.3, 2.0]),
)
@settings(deadline=None, max_examples=400)
def test_the_path_is_as_good_as_the_textbook_one(
    name: str, seed: int, words: int, spread: float, outside: float, strength: float
) -> None:
    scheme = SCHEMES[name]
    rows, steps = random_case(seed, words, scheme, spread, outside, strength)
    found = best_path(Transitions.of(steps, scheme), rows)
    best = textbook_path(rows, scheme, steps)
    assert score(found, rows, scheme, steps) == pytest.approx(score(best, rows, scheme, steps), abs=1e-4)


def test_no_path_among_all_of_them_is_better() -> None:
    scheme = SCHEMES["without O"]
    for seed in range(20):
        rows, steps = random_case(seed, 5, scheme, 1.0, 0.0, 1.0)
        best = max(score(np.array(path), rows, scheme, steps) for path in product(range(4), repeat=5))
        found = best_path(Transitions.of(steps, scheme), rows)
        assert score(found, rows, scheme, steps) == pytest.approx(best, abs=1e-4)


@pytest.mark.parametrize("name", sorted(SCHEMES))
def test_steps_that_are_all_alike_change_nothing(name: str) -> None:
    scheme = SCHEMES[name]
    for seed in range(10):
        rows, _ = random_case(seed, 300, scheme, 2.0, 1.0, 0.0)
        steps = np.full((len(scheme.labels),) * 2, -0.7)
        assert best_path(Transitions.of(steps, scheme), rows).tolist() == best_path(unlearned(scheme), rows).tolist()


def test_a_learned_step_joins_what_single_words_would_part() -> None:
    scheme = read_scheme({0: "O", 1: "B-X", 2: "I-X"})
    rows = np.log(np.array([[0.1, 0.8, 0.1], [0.1, 0.5, 0.4], [0.8, 0.1, 0.1]], dtype=np.float32))
    steps = np.zeros((3, 3))
    assert best_path(Transitions.of(steps, scheme), rows).tolist() == [1, 1, 0]
    steps[1, 1] = -1.0
    assert best_path(Transitions.of(steps, scheme), rows).tolist() == [1, 2, 0]


@given(st.sampled_from(sorted(SCHEMES)), st.integers(0, 2**32 - 1), st.lists(st.integers(1, 9), min_size=1, max_size=9))
@settings(deadline=None, max_examples=100)
def test_each_of_many_documents_has_the_path_that_it_has_alone(name: str, seed: int, lengths: list[int]) -> None:
    scheme = SCHEMES[name]
    rows, steps = random_case(seed, sum(lengths), scheme, 1.0, 0.5, 0.5)
    transitions = Transitions.of(steps, scheme)
    borders = np.cumsum(lengths).tolist()
    together = best_path(transitions, rows, [0, *borders])
    alone = [best_path(transitions, part) for part in np.split(rows, borders[:-1])]
    assert together.tolist() == np.concatenate(alone).tolist()


def test_a_text_in_which_every_word_is_doubtful_is_solved_whole() -> None:
    scheme = SCHEMES["many"]
    rows, steps = random_case(7, 700, scheme, 0.05, 0.0, 1.0)
    found = best_path(Transitions.of(steps, scheme), rows)
    best = textbook_path(rows, scheme, steps)
    assert score(found, rows, scheme, steps) == pytest.approx(score(best, rows, scheme, steps), abs=1e-2)


def test_a_document_without_words_has_an_empty_path() -> None:
    scheme = SCHEMES["BI"]
    assert best_path(Transitions.of(np.zeros((7, 7)), scheme), np.empty((0, 7), dtype=np.float32)).tolist() == []
