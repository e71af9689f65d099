"""A storm of short requests is refused before it is read: none waits in its socket past its client's patience."""

from __future__ import annotations

from pathlib import Path

from loadtest.generator.connection_burst import ask_at_once
from loadtest.generator.generator_pool import Endpoint, GeneratorPool
from loadtest.scenario.scenario import Phase, Scenario
from loadtest.scenario.workload import Documents, Mix
from tests.support.service import serving, wait_until


def test_a_storm_is_refused_before_it_is_read_and_nothing_is_lost(home: Path) -> None:
    mix = Mix(documents=(Documents("text", median_words=60),), deadline_ms=1_000, distinct=40)
    scenario = Scenario("storm", (Phase("p", seconds=6, rate=250),), "absolute", mix=mix)
    with serving(home, MODELS="tiny", PACE_TOKENS_PER_SECOND=2_000, MAX_CONNECTIONS=200) as service:
        with GeneratorPool(Endpoint(service.url), scenario, processes=1) as pool:
            records = pool.follow(lambda _: None).records
        assert records.ok.any()
        assert not records.failed.any(), set(records.outcome.tolist())
        refused = records.where(records.refused)
        assert refused.typed.all()
        assert (refused.retry_after >= 1).all()
        assert len(refused) > 0.5 * len(records)
        wait_until(lambda: service.metric("gleaner_connection_refusals_total") > 0, 20)
        wait_until(lambda: service.metric('gleaner_requests_total{route="/extract"') == len(records), 20)
        wait_until(lambda: service.metric("gleaner_requests_in_flight") == 0, 20)
        assert service.is_ready()
        crowd = ask_at_once(service.url, 600)
        crowd.check()
        assert crowd.outcomes["ok"] >= 100
        assert crowd.outcomes["too_much_at_once"] > 0
