"""S(tokens): how long the device takes for a batch, as base + tokens × time per token, by least squares. Pure.

Two sources. /metrics: between two looks the device was busy for base × batches + per token × tokens; that is the real
batches' law. Answers: `compute_ms` of documents that were asked one at a time, each alone in its batch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from loadtest.telemetry.sampler import MetricsSample

FEWEST = 8
NAMES = ("busy_seconds", "batches", "tokens")


@dataclass(frozen=True, slots=True)
class BatchLatencyFit:
    """The law, where it comes from, and how far it is typically off: median of |seconds - law| / seconds."""

    base_seconds: float
    seconds_per_token: float
    source: str
    typical_error: float


def from_metrics(moments: list[MetricsSample]) -> BatchLatencyFit | None:
    """From the growth of three counters; None where they are not there or hardly moved."""
    known = [[moment.values[name] for name in NAMES] for moment in moments if all(n in moment.values for n in NAMES)]
    if len(known) < FEWEST:
        return None
    grown = np.diff(np.array(known), axis=0)
    grown = grown[(grown[:, 1] > 0) & (grown >= 0).all(axis=1)]
    return _fit(grown[:, 1:], grown[:, 0], "metrics") if len(grown) >= FEWEST else None


def from_answers(tokens: npt.NDArray[np.float64], seconds: npt.NDArray[np.float64]) -> BatchLatencyFit | None:
    """From documents that ran alone; None where too few answers say what they took."""
    known = ~np.isnan(seconds) & (tokens > 0)
    if known.sum() < FEWEST:
        return None
    return _fit(np.stack([np.ones(known.sum()), tokens[known]], axis=1), seconds[known], "answers")


def _fit(inputs: npt.NDArray[np.float64], seconds: npt.NDArray[np.float64], source: str) -> BatchLatencyFit:
    """Least squares; a base below zero, which no device has, is set to zero and the rest fitted again."""
    (base, each), *_ = np.linalg.lstsq(inputs, seconds, rcond=None)
    if base < 0:
        base, each = 0.0, float((inputs[:, 1] * seconds).sum() / (inputs[:, 1] ** 2).sum())
    left = np.abs(seconds - inputs @ np.array([base, each]))
    return BatchLatencyFit(float(base), float(each), source, float(np.median(left / np.maximum(seconds, 1e-9))))
