"""A service under overload: refusals are typed, have Retry-After, and are all counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from loadtest.runner.generator_pool import Endpoint, GeneratorPool
from loadtest.scenario.scenario import Phase, Scenario
from loadtest.workload.mix import Documents, Mix
from tests.support.service import serving, wait_until

DOCUMENTS = (Documents("report", median_words=1_500, spread=0.2),)


def test_what_is_too_much_is_refused_in_words_and_the_rest_is_answered(home: Path) -> None:
    scenario = Scenario(
        "too much",
        (Phase("p", seconds=6, rate=60),),
        "absolute",
        mix=Mix(documents=DOCUMENTS, deadline_ms=20_000, distinct=40),
    )
    with serving(home, MODELS="tiny", QUEUE_LIMIT_TOKENS=2_000, PACE_TOKENS_PER_SECOND=50_000) as service:
        with GeneratorPool(Endpoint(service.url), scenario, processes=1) as pool:
            records = pool.follow(lambda _: None).records
        refused = records.where(records.refused)
        assert records.ok.any()
        assert not records.failed.any(), set(records.outcome.tolist())
        assert len(refused), "the queue was never full"
        assert refused.typed.all()
        assert (refused.retry_after >= 1).all()
        assert set(refused.outcome.tolist()) <= {"queue_full", "deadline_exceeded"}
        assert np.quantile(records.latency_ms[records.ok], 1.0) <= 20_000 + 2_000
        wait_until(lambda: service.metric("gleaner_refusals_total") >= len(refused), 20)
        assert service.metric("gleaner_refusals_total") == len(refused)
