"""Batch latency fit: S(tokens) = base + tokens × seconds per token, by least squares. Pure.

Two sources. Metrics: between two samples the device was busy for base × batches + seconds per token × tokens, which
covers real batches. Answers: `compute_ms` of documents that were sent one at a time, each alone in its batch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from loadtest.telemetry.sampler import MetricsSample

MIN_ROWS = 8
NAMES = ("busy_seconds", "batches", "tokens")


@dataclass(frozen=True, slots=True)
class BatchLatencyFit:
    """The fit, its source, and its typical error: the median of |seconds - fit| / seconds."""

    base_seconds: float
    seconds_per_token: float
    source: str
    typical_error: float


def from_metrics(samples: list[MetricsSample]) -> BatchLatencyFit | None:
    """The fit to the increases of three counters; None where too few are known."""
    known = [[sample.values[name] for name in NAMES] for sample in samples if all(n in sample.values for n in NAMES)]
    if len(known) < MIN_ROWS:
        return None
    grown = np.diff(np.array(known), axis=0)
    grown = grown[(grown[:, 1] > 0) & (grown >= 0).all(axis=1)]
    return _fit(grown[:, 1:], grown[:, 0], "metrics") if len(grown) >= MIN_ROWS else None


def from_answers(tokens: npt.NDArray[np.float64], seconds: npt.NDArray[np.float64]) -> BatchLatencyFit | None:
    """The fit to documents that ran alone; None where too few compute times are known."""
    known = ~np.isnan(seconds) & (tokens > 0)
    if known.sum() < MIN_ROWS:
        return None
    return _fit(np.stack([np.ones(known.sum()), tokens[known]], axis=1), seconds[known], "answers")


def _fit(inputs: npt.NDArray[np.float64], seconds: npt.NDArray[np.float64], source: str) -> BatchLatencyFit:
    """Least squares; a negative base, which no device has, is set to zero and the slope fitted again."""
    (base, each), *_ = np.linalg.lstsq(inputs, seconds, rcond=None)
    if base < 0:
        base, each = 0.0, float((inputs[:, 1] * seconds).sum() / (inputs[:, 1] ** 2).sum())
    residuals = np.abs(seconds - inputs @ np.array([base, each]))
    return BatchLatencyFit(float(base), float(each), source, float(np.median(residuals / np.maximum(seconds, 1e-9))))
