"""Memory cost model: the peak bytes of a batch as a function of its shape, fitted to measured points. Pure.

    bytes(shape) = margin × factor × (a + b·tokens + c·tokens·longest + d·longest² + e·sequences) + noise

The coefficients are the least squares of the relative errors among those that are not negative, so bytes never fall
when a batch grows. `factor` lifts the curve until no measured point lies above it, the probe's own noise apart; the
margin is for shapes that were not measured. tokens·longest stands for attention scores that are held for a whole batch
(the padded path), longest² for those held for one sequence at a time; flash attention holds neither.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from service.core.types import Shape


@dataclass(frozen=True, slots=True)
class MeasuredPeak:
    """The shape of a batch that was run, and its peak bytes."""

    shape: Shape
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class ProbeAccuracy:
    """Accuracy of a probe: readings are off by up to `noise_bytes`, and unmeasured shapes by the factor `margin`."""

    noise_bytes: int
    margin: float


@dataclass(frozen=True, slots=True)
class MemoryCostModel:
    """Coefficients of one model, from which `bytes` predicts its batches.

    Attributes:
        error_ratio: largest overestimate among the larger half of the measured points, as a share of the point.
    """

    fixed_bytes: float
    bytes_per_token: float
    bytes_per_token_pair: float
    bytes_per_longest_pair: float
    bytes_per_sequence: float
    error_ratio: float

    def bytes(self, shape: Shape) -> int:
        """Predicted peak bytes, never below the measured ones."""
        by_tokens = (self.bytes_per_token + self.bytes_per_token_pair * shape.longest) * shape.tokens
        by_others = self.bytes_per_longest_pair * shape.longest**2 + self.bytes_per_sequence * shape.sequences
        return int(self.fixed_bytes + by_tokens + by_others + 1)

    def largest_tokens(self, room_bytes: int, longest: int, most_tokens: int) -> int:
        """Most tokens, in sequences of `longest`, that fit into `room_bytes`; 0 when not even one token does."""
        return _largest(lambda tokens: self.bytes(_even(tokens, longest)) <= room_bytes, most_tokens)

    def longest_alone(self, room_bytes: int, longest: int) -> int:
        """Tokens of the longest sequence, up to `longest`, that fits into `room_bytes` alone; 0 when none does."""
        return _largest(lambda tokens: self.bytes(Shape(tokens, tokens, 1)) <= room_bytes, longest)


UNMEASURED = MemoryCostModel(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""The cost model where memory cannot be read: no batch is rejected for its bytes."""


def fit(points: Sequence[MeasuredPeak], accuracy: ProbeAccuracy) -> MemoryCostModel:
    """Fit the coefficients to these points, by the formula above.

    Raises:
        ValueError: there are no points.
    """
    if not points:
        raise ValueError("a cost model needs at least one measured point")
    rows = np.array([_features(point.shape) for point in points])
    peaks = np.array([max(point.peak_bytes, 1) for point in points], dtype=float)
    weights = 1.0 / (peaks + accuracy.noise_bytes)
    found = _nonnegative_least_squares(rows * weights[:, None], peaks * weights)
    short = peaks - accuracy.noise_bytes
    plain = np.maximum(rows @ found, 1.0)
    factor = max(1.0, float((short / plain).max())) * accuracy.margin
    fixed, token, pair, longest, sequence = (found * factor).tolist()
    predicted = rows @ found * factor + accuracy.noise_bytes
    large = peaks >= np.median(peaks)
    error = float((predicted / peaks - 1.0)[large].max())
    return MemoryCostModel(fixed + accuracy.noise_bytes, token, pair, longest, sequence, error)


def _features(shape: Shape) -> list[float]:
    return [1.0, shape.tokens, shape.tokens * shape.longest, shape.longest**2, shape.sequences]


def _nonnegative_least_squares(
    rows: npt.NDArray[np.float64], wanted: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Solve exactly: the best least-squares solution over all subsets of columns without a negative coefficient."""
    count = rows.shape[1]
    best, least = np.zeros(count), float(wanted @ wanted)
    for size in range(1, count + 1):
        for columns in map(list, combinations(range(count), size)):
            part, *_ = np.linalg.lstsq(rows[:, columns], wanted, rcond=None)
            off = float(((rows[:, columns] @ part - wanted) ** 2).sum())
            if (part >= 0).all() and off < least:
                best, least = np.zeros(count), off
                best[columns] = part
    return best


def _even(tokens: int, longest: int) -> Shape:
    return Shape(tokens, min(tokens, longest), -(-tokens // max(longest, 1)))


def _largest(fits: Callable[[int], bool], most: int) -> int:
    """Bisect for the largest number up to `most` that fits, where every smaller one fits too; 0 when none does."""
    if most > 0 and fits(most):
        return most
    low, high = 0, max(most - 1, 0)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
