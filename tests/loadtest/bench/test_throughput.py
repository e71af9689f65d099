"""What two runs of the same documents have in common, and what they have not."""

from __future__ import annotations

import pytest

from loadtest.bench.throughput import Entity, compare


def entity(label: str, start: int, score: float) -> Entity:
    return {"label": label, "start": start, "end": start + 3, "score": score}


def test_equal_runs_do_not_differ() -> None:
    run = [[entity("A", 0, 0.5)], []]
    assert compare(run, run) == (0.0, 0.0)


def test_the_largest_difference_is_that_of_entities_that_both_found() -> None:
    theirs = [[entity("A", 0, 0.5), entity("B", 9, 0.9)]]
    ours = [[entity("A", 0, 0.52), entity("B", 9, 0.89)]]
    difference, differing = compare(theirs, ours)
    assert difference == pytest.approx(0.02)
    assert differing == 0.0


def test_entities_of_another_label_place_or_document_differ() -> None:
    theirs = [[entity("A", 0, 0.5), entity("B", 9, 0.9)], []]
    ours = [[entity("A", 0, 0.5)], [entity("B", 9, 0.9)]]
    assert compare(theirs, ours)[1] == pytest.approx(2 / 3)
