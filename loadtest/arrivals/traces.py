"""Traces: recorded arrivals in files of `t_s,count`, one bin per line, which can be scaled in time and in rate."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path

from loadtest.errors import BadInput

HEAD = ["t_s", "count"]


@dataclass(frozen=True, slots=True)
class Trace:
    """The number of arrivals in each bin of `bin_seconds`."""

    bin_seconds: float
    counts: tuple[int, ...]

    @property
    def seconds(self) -> float:
        return self.bin_seconds * len(self.counts)

    @property
    def mean_rate(self) -> float:
        """Arrivals per second over the whole trace."""
        return sum(self.counts) / self.seconds

    def at(self, elapsed: float) -> float:
        """Arrivals per second in the bin at this time."""
        number = int(elapsed / self.bin_seconds)
        return self.counts[number] / self.bin_seconds if 0 <= number < len(self.counts) else 0.0

    def faster(self, factor: float) -> Trace:
        """The trace with its time divided by a factor."""
        return replace(self, bin_seconds=self.bin_seconds / factor)

    def scaled(self, factor: float) -> Trace:
        """The trace with its counts multiplied by a factor; the sum up to each bin is rounded to an integer."""
        sums = [round(reached * factor) for reached in accumulate(self.counts, initial=0)]
        return replace(self, counts=tuple(after - before for before, after in pairwise(sums)))

    def first(self, seconds: float) -> Trace:
        """The beginning of the trace, in whole bins."""
        return replace(self, counts=self.counts[: max(1, round(seconds / self.bin_seconds))])


def read_trace(path: Path) -> Trace:
    """The trace in a file.

    Raises:
        BadInput: the file cannot be read, or is in another format.
    """
    try:
        rows = list(csv.reader(path.read_text().splitlines()))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"the trace {path} cannot be read: {error}") from error
    if not rows or rows[0] != HEAD or len(rows) < 3:
        raise BadInput(f"{path} is not a trace: a head line `t_s,count` and at least two bins are needed")
    try:
        times, counts = zip(*((float(time), int(count)) for time, count in rows[1:]), strict=True)
    except ValueError as error:
        raise BadInput(f"{path} is not a trace: {error}") from error
    width = times[1] - times[0]
    if width <= 0 or any(abs(b - a - width) > 1e-6 * width for a, b in pairwise(times)) or min(counts) < 0:
        raise BadInput(f"{path} is not a trace: bins must have one length and counts must not be negative")
    return Trace(width, counts)


def lines(trace: Trace) -> Iterable[str]:
    """The lines of a trace's file."""
    yield ",".join(HEAD)
    for number, count in enumerate(trace.counts):
        yield f"{number * trace.bin_seconds:g},{count}"
