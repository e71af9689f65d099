from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from service.core.decoding.assignment import least_total


@pytest.mark.parametrize("rows", range(6))
@pytest.mark.parametrize("columns", [5, 6])
def test_no_other_way_costs_less(rows: int, columns: int) -> None:
    for seed in range(10):
        costs = np.random.default_rng(seed).normal(0, 3, (rows, columns)).round(1)
        found = least_total(costs)
        ways = (costs[range(rows), list(way)].sum() for way in permutations(range(columns), rows))
        assert len(set(found.tolist())) == rows
        assert costs[range(rows), found].sum() == pytest.approx(min(ways))


def test_of_equal_ways_the_first_columns_are_taken() -> None:
    assert least_total(np.zeros((3, 4))).tolist() == [0, 1, 2]
