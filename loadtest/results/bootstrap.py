"""Block bootstrap: confidence intervals by resampling blocks of time, as neighbouring requests are not independent."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from loadtest.records.records import Records

BLOCK_SECONDS = 1.0
DRAWS = 1_000
LEVEL = 0.95
Statistic = Callable[[npt.NDArray[np.float64]], float]


def blocks(values: npt.NDArray[np.float64], times: npt.NDArray[np.float64], seconds: float = BLOCK_SECONDS) -> list[
    npt.NDArray[np.float64]
]:  # fmt: skip
    """The values, grouped by the block of time in which each was due."""
    number = np.floor((times - (times.min() if len(times) else 0.0)) / seconds).astype(np.int64)
    return [values[number == each] for each in np.unique(number)]


def resampled(
    parts: list[npt.NDArray[np.float64]], statistic: Statistic, seed: int, draws: int = DRAWS
) -> npt.NDArray[np.float64]:
    """The statistic of `draws` samples, each of as many blocks drawn with replacement."""
    draw = np.random.default_rng(seed)
    picks = draw.integers(0, len(parts), size=(draws, len(parts)))
    return np.array([statistic(np.concatenate([parts[index] for index in pick])) for pick in picks])


def interval(samples: npt.NDArray[np.float64], level: float = LEVEL) -> tuple[float, float]:
    """The central interval that contains the share `level` of the samples."""
    low, high = np.quantile(samples, ((1 - level) / 2, (1 + level) / 2))
    return float(low), float(high)


def latency_samples(records: Records, quantile: float, seed: int) -> npt.NDArray[np.float64]:
    """Resampled quantiles of the latency of good answers, in milliseconds."""
    good = records.where(records.ok)
    return resampled(blocks(good.latency_ms, good.intended), lambda values: float(np.quantile(values, quantile)), seed)
