from __future__ import annotations

import numpy as np
import pytest

from loadtest.knee.batch_latency_fit import from_answers, from_metrics
from loadtest.telemetry.sampler import MetricsSample


def test_the_law_of_batches_is_found_from_three_counters() -> None:
    draw = np.random.default_rng(1)
    busy = batches = tokens = 0.0
    moments = []
    for second in range(40):
        moments.append(MetricsSample(second, {"busy_seconds": busy, "batches": batches, "tokens": tokens}))
        new, size = float(draw.integers(3, 12)), float(draw.integers(50, 2_000))
        batches, tokens = batches + new, tokens + new * size
        busy += new * 0.004 + new * size * 8e-5 + draw.normal(0, 1e-4)
    law = from_metrics(moments)
    assert law is not None
    assert law.base_seconds == pytest.approx(0.004, rel=0.1)
    assert law.seconds_per_token == pytest.approx(8e-5, rel=0.01)
    assert law.typical_error < 0.01


def test_the_law_of_lone_documents_is_found_from_answers() -> None:
    tokens = np.arange(20, 500, 20, dtype=np.float64)
    law = from_answers(tokens, 0.01 + 5e-5 * tokens)
    assert law is not None
    assert [law.base_seconds, law.seconds_per_token] == pytest.approx([0.01, 5e-5])


def test_a_base_below_zero_is_none() -> None:
    tokens = np.arange(20, 500, 20, dtype=np.float64)
    law = from_answers(tokens, 5e-5 * tokens - 1e-4)
    assert law is not None
    assert law.base_seconds == 0


def test_without_timing_there_is_no_law() -> None:
    assert from_metrics([]) is None
    assert from_answers(np.ones(50), np.full(50, np.nan)) is None
