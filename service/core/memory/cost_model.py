"""Bytes that a batch needs at its peak, as a function of its shape, fitted to measured points. Pure.

    bytes(shape) = margin × factor × (a + b·tokens + c·tokens·longest + d·longest² + e·sequences) + noise

The coefficients are the least squares of the relative errors among those that are not negative, so bytes never fall
when a batch grows. `factor` lifts the curve until no measured point lies above it, the gauge's own noise apart; the
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
    """A batch that was run, and the bytes that it needed at its peak."""

    shape: Shape
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class ProbeAccuracy:
    """What is known of the instrument: readings are off by up to `noise_bytes`, and unmeasured shapes by `margin`."""

    noise_bytes: int
    margin: float


@dataclass(frozen=True, slots=True)
class MemoryCostModel:
    """Bytes of a batch.

    Attributes:
        error_ratio: the largest overestimate of a measured point in the larger half of them, as a share of it.
    """

    fixed_bytes: float
    bytes_per_token: float
    bytes_per_token_pair: float
    bytes_per_longest_pair: float
    bytes_per_sequence: float
    error_ratio: float

    def bytes(self, shape: Shape) -> int:
        """Predicted peak, never below what such a batch needs."""
        by_tokens = (self.bytes_per_token + self.bytes_per_token_pair * shape.longest) * shape.tokens
        by_others = self.bytes_per_longest_pair * shape.longest**2 + self.bytes_per_sequence * shape.sequences
        return int(self.fixed_bytes + by_tokens + by_others + 1)

    def largest_tokens(self, room_bytes: int, longest: int, most_tokens: int) -> int:
        """Most tokens, in sequences of `longest`, that fit into the room; 0 when not even one token does."""
        return _largest(lambda tokens: self.bytes(_even(tokens, longest)) <= room_bytes, most_tokens)

    def longest_alone(self, room_bytes: int, longest: int) -> int:
        """The longest sequence up to `longest` that fits into the room alone; 0 when none does."""
        return _largest(lambda tokens: self.bytes(Shape(tokens, tokens, 1)) <= room_bytes, longest)


def fit(points: Sequence[MeasuredPeak], gauged: ProbeAccuracy) -> MemoryCostModel:
    """The function of these points; see the formula above.

    Raises:
        ValueError: there are no points.
    """
    if not points:
        raise ValueError("a function needs at least one measured point")
    rows = np.array([_features(point.shape) for point in points])
    peaks = np.array([max(point.peak_bytes, 1) for point in points], dtype=float)
    weights = 1.0 / (peaks + gauged.noise_bytes)
    found = _nonnegative_least_squares(rows * weights[:, None], peaks * weights)
    short = peaks - gauged.noise_bytes
    plain = np.maximum(rows @ found, 1.0)
    factor = max(1.0, float((short / plain).max())) * gauged.margin
    fixed, token, pair, longest, sequence = (found * factor).tolist()
    predicted = rows @ found * factor + gauged.noise_bytes
    large = peaks >= np.median(peaks)
    error = float((predicted / peaks - 1.0)[large].max())
    return MemoryCostModel(fixed + gauged.noise_bytes, token, pair, longest, sequence, error)


def _features(shape: Shape) -> list[float]:
    return [1.0, shape.tokens, shape.tokens * shape.longest, shape.longest**2, shape.sequences]


def _nonnegative_least_squares(
    rows: npt.NDArray[np.float64], wanted: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Exact: the best least-squares solution over all subsets of columns whose coefficients are not negative."""
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
    """The largest number up to `most` that fits, when every smaller one fits as well; 0 when none does."""
    if most > 0 and fits(most):
        return most
    low, high = 0, max(most - 1, 0)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
