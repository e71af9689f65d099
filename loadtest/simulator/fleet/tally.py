"""What became of the documents: counts by wait and utilization, from which latencies follow. Pure."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from loadtest.simulator.demand import Floats
from loadtest.simulator.latency_table import LEVELS, LatencyTable

FIRST_WAIT_SECONDS = 0.01
LAST_WAIT_SECONDS = 600.0
WAITS = 240
_STEP = math.log(LAST_WAIT_SECONDS / FIRST_WAIT_SECONDS) / (WAITS - 1)
WAIT_SECONDS = np.concatenate([[0.0], FIRST_WAIT_SECONDS * np.exp(_STEP * np.arange(WAITS))])
"""Each bin's wait; the first is for none."""


class Tally:
    """Answered documents by `[level, wait]`, and the refused."""

    def __init__(self) -> None:
        self.answered = np.zeros((LEVELS, WAITS + 1))
        self.refused = 0.0

    def add(self, level: int, count: float) -> None:
        """Documents that did not wait for a queue."""
        self.answered[level, 0] += count

    def add_waits(self, levels: npt.NDArray[np.int64], waits: Floats, counts: Floats) -> None:
        """Documents of several tasks."""
        scaled = np.log(np.maximum(waits, FIRST_WAIT_SECONDS * 1e-3) / FIRST_WAIT_SECONDS) / _STEP
        bins = np.clip(np.rint(scaled) + 1, 0, WAITS).astype(np.int64)
        np.add.at(self.answered, (levels, bins), counts)

    def take_back(self, count: float) -> float:
        """So many that waited are answered by nobody; returns how many, since no more than waited can be."""
        waited = self.answered[-1]
        taken = min(count, float(waited.sum()))
        if taken:
            waited *= 1 - taken / waited.sum()
        return taken

    @property
    def documents(self) -> float:
        """All that were answered."""
        return float(self.answered.sum())

    def quantile(self, table: LatencyTable, share: float) -> float:
        """Seconds within which this share of the answered documents had their answer."""
        seconds, weights = self._spread(table)
        order = np.argsort(seconds)
        reached = np.cumsum(weights[order])
        if not len(reached) or not reached[-1]:
            return math.nan
        return float(seconds[order][np.searchsorted(reached, share * reached[-1])])

    def late(self, table: LatencyTable, limit_seconds: float) -> float:
        """Answered documents that took longer."""
        seconds, weights = self._spread(table)
        return float(weights[seconds > limit_seconds].sum())

    def _spread(self, table: LatencyTable) -> tuple[Floats, Floats]:
        levels, waits = np.nonzero(self.answered)
        latencies = WAIT_SECONDS[waits][:, None] * table.turns + table.seconds[levels]
        weights = np.repeat(self.answered[levels, waits] / latencies.shape[1], latencies.shape[1])
        return latencies.ravel(), weights
