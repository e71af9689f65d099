"""How two services' scores are compared."""

from __future__ import annotations

import pytest

from loadtest.bench.throughput import _compare


def test_the_largest_difference_is_that_of_tokens_with_the_same_label() -> None:
    theirs = [[("A", 0.5), ("B", 0.9)], [("A", 0.1)]]
    ours = [[("A", 0.75), ("C", 0.1)], [("A", 0.1)]]
    difference, flipped = _compare(theirs, ours)
    assert difference == 0.25
    assert flipped == pytest.approx(1 / 3)


def test_equal_scores_differ_in_nothing() -> None:
    assert _compare([[("A", 0.5)]], [[("A", 0.5)]]) == (0.0, 0.0)


@pytest.mark.parametrize("ours", [[], [[]], [[("A", 0.5), ("A", 0.5)]]])
def test_answers_of_other_lengths_are_not_compared_in_silence(ours: list[list[tuple[str, float]]]) -> None:
    with pytest.raises(ValueError, match="zip"):
        _compare([[("A", 0.5)]], ours)
