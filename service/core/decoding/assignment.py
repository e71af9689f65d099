"""Assignment of rows to columns at the least total cost, by shortest augmenting paths (Jonker and Volgenant)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def least_total(costs: NDArray[np.float64]) -> NDArray[np.intp]:
    """The column of each row, none twice, so that their costs are least together; of equal ways the first found.

    Args:
        costs: finite, `[rows, columns]`, with at least as many columns as rows.
    """
    rows, columns = costs.shape
    prices = np.zeros(columns)
    paid = np.zeros(rows)
    owners = np.full(columns, -1, dtype=np.intp)
    for row in range(rows):
        way, before = np.full(columns, np.inf), np.full(columns, -1, dtype=np.intp)
        seen = np.zeros(columns, dtype=np.bool_)
        column, current = -1, row
        while True:
            ways = costs[current] - paid[current] - prices
            shorter = ~seen & (ways < way)
            way[shorter], before[shorter] = ways[shorter], column
            nearest = int(np.where(seen, np.inf, way).argmin())
            step = way[nearest]
            paid[row] += step
            paid[owners[seen]] += step
            prices[seen] -= step
            way[~seen] -= step
            seen[nearest] = True
            column, current = nearest, int(owners[nearest])
            if current < 0:
                break
        while column >= 0:
            previous = int(before[column])
            owners[column] = row if previous < 0 else owners[previous]
            column = previous
    found = np.empty(rows, dtype=np.intp)
    taken = np.flatnonzero(owners >= 0)
    found[owners[taken]] = taken
    return found
