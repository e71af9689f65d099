"""Learns what a score means: an isotonic map from entities' scores to the share that is right, and its error.

Isotonic regression by pooling adjacent violators (Ayer et al. 1955; Zadrozny and Elkan 2002 for calibration), thinned
to few points between which the map is straight.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from service.core.decoding.model_decoding import Calibration

MOST_POINTS: Final = 20
BINS: Final = 10

Numbers = NDArray[np.float64]


def fit_calibration(scores: Numbers, is_right: NDArray[np.bool_]) -> Calibration:
    """The map of these entities; at least one.

    Entities are pooled by score in groups of equal size first, so that no point of the map stands for a few alone.
    """
    order = np.argsort(scores, kind="stable")
    groups = np.array_split(order, min(MOST_POINTS, max(1, len(order) // 10)))
    centers = np.array([scores[group].mean() for group in groups])
    sizes = np.array([len(group) for group in groups], dtype=np.float64)
    shares = np.array([(is_right[group].sum() + 0.5) / (len(group) + 1.0) for group in groups])
    centers, shares = _pooled(centers, shares, sizes)
    return Calibration(tuple(np.round(centers, 6).tolist()), tuple(np.round(shares, 6).tolist()))


def _pooled(centers: Numbers, shares: Numbers, sizes: Numbers) -> tuple[Numbers, Numbers]:
    """Neighbours whose shares fall become one point, weighed by their sizes."""
    blocks: list[tuple[float, float, float]] = []
    for block in zip(centers.tolist(), shares.tolist(), sizes.tolist(), strict=True):
        blocks.append(block)
        while len(blocks) > 1 and blocks[-2][1] >= blocks[-1][1]:
            (a, b, m), (c, d, n) = blocks[-2], blocks[-1]
            blocks[-2:] = [((a * m + c * n) / (m + n), (b * m + d * n) / (m + n), m + n)]
    return np.array([block[0] for block in blocks]), np.array([block[1] for block in blocks])


def calibration_error(scores: Numbers, is_right: NDArray[np.bool_]) -> float:
    """Expected calibration error: mean distance of score and share of right ones, over BINS bins of equal width."""
    bins = np.minimum((scores * BINS).astype(int), BINS - 1)
    parts = [bins == number for number in range(BINS)]
    distances = [part.sum() * abs(scores[part].mean() - is_right[part].mean()) for part in parts if part.any()]
    return float(sum(distances) / max(1, len(scores)))
