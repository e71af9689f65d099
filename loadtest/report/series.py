"""Points over time computed from records: rates, quantiles, and refusals by reason. Pure."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt

from loadtest.records.records import Records
from loadtest.report.chart import Points

MAX_BINS = 120


def bin_seconds(seconds: float) -> float:
    """The length of a bin: a round time of which a run has at most `MAX_BINS`."""
    return next(each for each in (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600) if seconds / each <= MAX_BINS)


def per_second(times: npt.NDArray[np.float64], seconds: float) -> Points:
    """The number of times per second in each bin of a run, including empty bins."""
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
    """The times of the answers that came before the end of the schedule."""
    return records.done[records.done < seconds]


def quantile_over_time(
    times: npt.NDArray[np.float64], values: npt.NDArray[np.float64], seconds: float, quantile: float
) -> Points:
    """A quantile of the values in each bin; empty bins have no point."""
    width = bin_seconds(seconds)
    number = (times / width).astype(np.int64)
    return tuple(
        ((int(each) + 0.5) * width, float(np.quantile(values[number == each], quantile))) for each in np.unique(number)
    )


def by_reason(records: Records, seconds: float) -> dict[str, Points]:
    """Refusals and failures per second by code, most frequent first."""
    bad = records.where(~records.ok)
    names = [name for name, _ in Counter(bad.outcome.tolist()).most_common(7)]
    return {name: per_second(bad.done[bad.outcome == name], seconds) for name in names}


def unless_zero(points: Points) -> Points:
    """The points, or none if all are zero."""
    return points if any(y > 0 for _, y in points) else ()
