"""How long a batch is expected to take, and how long before its end the next one is formed."""

from __future__ import annotations

import pytest

from service.core.scheduling.batch_forecast import LEAD_SECONDS, LEAD_SHARE, BatchForecast, lead_seconds
from service.core.scheduling.batch_latency import REACH


def test_what_never_ran_may_end_at_any_moment() -> None:
    assert BatchForecast().seconds("m", 1_000) == 0.0


def test_a_batch_takes_what_those_of_its_model_took() -> None:
    forecast = BatchForecast()
    for _ in range(50):
        for tokens in (1_000, 2_000):
            forecast.learn("slow", tokens, 0.02 + tokens / 50_000)
            forecast.learn("fast", tokens, 0.001 + tokens / 1_000_000)
    assert forecast.seconds("slow", 2_000) == pytest.approx(0.06, rel=0.05)
    assert forecast.seconds("fast", 2_000) == pytest.approx(0.003, rel=0.05)
    assert forecast.base_seconds("slow") == pytest.approx(0.02, rel=0.25)
    assert forecast.base_seconds("new") == 0.0


def test_the_lead_is_what_the_host_needs_and_grows_with_the_error_of_a_forecast() -> None:
    assert lead_seconds(0.0) == lead_seconds(0.01) == LEAD_SECONDS
    assert lead_seconds(1.0) == LEAD_SHARE


def test_of_batches_far_larger_than_any_that_ran_nothing_is_known() -> None:
    """A device takes as long for ten tokens as for a thousand: a line through small batches would lead far astray."""
    forecast = BatchForecast()
    for _ in range(50):
        forecast.learn("m", 10, 0.008)
    assert forecast.seconds("m", 10 * REACH) > 0.0
    assert forecast.seconds("m", 16_384) == 0.0
