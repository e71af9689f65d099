from __future__ import annotations

import numpy as np
import pytest

from loadtest.knee.batch_latency_fit import from_answers, from_metrics
from loadtest.telemetry.sampler import MetricsSample


def test_the_fit_of_batches_is_found_from_three_counters() -> None:
    draw = np.random.default_rng(1)
    busy = batches = tokens = 0.0
    samples = []
    for second in range(40):
        samples.append(MetricsSample(second, {"busy_seconds": busy, "batches": batches, "tokens": tokens}))
        new, size = float(draw.integers(3, 12)), float(draw.integers(50, 2_000))
        batches, tokens = batches + new, tokens + new * size
        busy += new * 0.004 + new * size * 8e-5 + draw.normal(0, 1e-4)
    fit = from_metrics(samples)
    assert fit is not None
    assert fit.base_seconds == pytest.approx(0.004, rel=0.1)
    assert fit.seconds_per_token == pytest.approx(8e-5, rel=0.01)
    assert fit.typical_error < 0.01


def test_the_fit_of_single_documents_is_found_from_answers() -> None:
    tokens = np.arange(20, 500, 20, dtype=np.float64)
    fit = from_answers(tokens, 0.01 + 5e-5 * tokens)
    assert fit is not None
    assert [fit.base_seconds, fit.seconds_per_token] == pytest.approx([0.01, 5e-5])


def test_a_negative_base_is_set_to_zero() -> None:
    tokens = np.arange(20, 500, 20, dtype=np.float64)
    fit = from_answers(tokens, 5e-5 * tokens - 1e-4)
    assert fit is not None
    assert fit.base_seconds == 0


def test_without_compute_times_there_is_no_fit() -> None:
    assert from_metrics([]) is None
    assert from_answers(np.ones(50), np.full(50, np.nan)) is None
