"""Columns of requests → points over time. Pure."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt

from loadtest.records.records import Records
from loadtest.report.chart import Points

MOST_BINS = 120


def bin_seconds(seconds: float) -> float:
    """A round length of time that cuts a run into at most so many bins."""
    return next(each for each in (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600) if seconds / each <= MOST_BINS)


def per_second(times: npt.NDArray[np.float64], seconds: float) -> Points:
    """How many a second, in each bin of a run; bins without any count too."""
    width = bin_seconds(seconds)
    bins = max(int(np.ceil(seconds / width)), 1)
    counts = (
        np.bincount(np.clip((times / width).astype(np.int64), 0, bins - 1), minlength=bins)
        if len(times)
        else [0] * bins
    )
    last = seconds - (bins - 1) * width
    lengths = [width] * (bins - 1) + [last if last > width / 4 else width]
    return tuple(
        ((n + 0.5) * width, float(c) / length) for n, (c, length) in enumerate(zip(counts, lengths, strict=True))
    )


def inside(records: Records, seconds: float) -> npt.NDArray[np.float64]:
    """When the answers came, of those that came before the end of the schedule."""
    return records.done[records.done < seconds]


def quantile_over_time(
    times: npt.NDArray[np.float64], values: npt.NDArray[np.float64], seconds: float, quantile: float
) -> Points:
    """A quantile of the values that fall into each bin; empty bins are left out."""
    width = bin_seconds(seconds)
    number = (times / width).astype(np.int64)
    return tuple(
        ((int(each) + 0.5) * width, float(np.quantile(values[number == each], quantile))) for each in np.unique(number)
    )


def by_reason(records: Records, seconds: float) -> dict[str, Points]:
    """Refusals and failures a second, by their code, most frequent first."""
    bad = records.where(~records.ok)
    names = [name for name, _ in Counter(bad.outcome.tolist()).most_common(7)]
    return {name: per_second(bad.done[bad.outcome == name], seconds) for name in names}
