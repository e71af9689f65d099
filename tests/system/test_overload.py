"""One service under overload: refusals are typed, have Retry-After and are counted; a greedy client harms no other."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from loadtest.generator.connection_burst import ask_at_once
from loadtest.generator.generator_pool import Endpoint, GeneratorPool
from loadtest.scenario.scenario import Phase, Scenario
from loadtest.scenario.workload import Documents, Mix
from tests.support.extraction import TEXT
from tests.support.service import Service, serving, wait_until

LIMIT_TOKENS = 20_000
CALLERS = 4
GREEDY, MODEST = {"X-API-Key": "greedy"}, {"X-API-Key": "modest"}
KEYS = "\n".join(f"{name} {hashlib.sha256(name.encode()).hexdigest()}" for name in ("greedy", "modest"))


@pytest.fixture
def small(home: Path) -> Iterator[Service]:
    """A service whose queue holds a second of work; one for each test, since a refusal is remembered for a while."""
    limits = {"QUEUE_LIMIT_TOKENS": LIMIT_TOKENS, "PACE_TOKENS_PER_SECOND": LIMIT_TOKENS}
    with serving(home, MODELS="tiny", **limits, API_KEYS=KEYS) as service:
        yield service


def test_what_is_too_much_is_refused_and_the_rest_is_answered(small: Service) -> None:
    mix = Mix(documents=(Documents("report", median_words=1_500, spread=0.2),), deadline_ms=20_000, distinct=40)
    scenario = Scenario("too much", (Phase("p", seconds=6, rate=60),), "absolute", mix=mix)
    with GeneratorPool(Endpoint(small.url, {"": "greedy"}), scenario, processes=1) as pool:
        records = pool.follow(lambda _: None).records
    refused = records.where(records.refused)
    assert records.ok.any()
    assert not records.failed.any(), set(records.outcome.tolist())
    assert len(refused), "the queue was never full"
    assert refused.typed.all()
    assert (refused.retry_after >= 1).all()
    assert set(refused.outcome.tolist()) <= {"queue_full", "deadline_exceeded"}
    assert records.latency_ms[records.ok].max() <= 20_000 + 2_000
    wait_until(lambda: small.metric("gleaner_refusals_total") >= len(refused))
    assert small.metric("gleaner_refusals_total") == len(refused)


def test_a_giant_and_a_flood_of_one_client_keep_no_answer_from_another(small: Service) -> None:
    stop = threading.Event()

    def flood(_: int) -> None:
        with small.client() as client:
            while not stop.is_set():
                client.post("/extract", json={"documents": [{"text": TEXT * 20}] * 50}, headers=GREEDY)

    with small.client() as client, ThreadPoolExecutor(CALLERS + 1) as callers:
        giant = callers.submit(client.post, "/extract", json={"text": TEXT * 2_500}, headers=GREEDY)
        wait_until(lambda: small.metric("gleaner_queue_tokens ") > LIMIT_TOKENS)
        for number in range(CALLERS):
            callers.submit(flood, number)
        try:
            answers = [client.post("/extract", json={"text": TEXT}, headers=MODEST)]
            before_the_giant = not giant.done()
            answers += [client.post("/extract", json={"text": TEXT}, headers=MODEST) for _ in range(29)]
        finally:
            stop.set()
        assert Counter(answer.status_code for answer in answers) == {200: 30}
        assert before_the_giant, "a short document waited for all of a long one"
        assert giant.result().status_code == 200
    assert small.metric('gleaner_refusals_total{code="queue_full"}'), "the queue was never full"


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
        wait_until(lambda: service.metric("gleaner_connection_refusals_total") > 0)
        wait_until(lambda: service.metric('gleaner_requests_total{route="/extract"') == len(records))
        wait_until(lambda: service.metric("gleaner_requests_in_flight") == 0)
        assert service.is_ready()
        crowd = ask_at_once(service.url, 600)
        crowd.check()
        assert crowd.outcomes["ok"] >= 100
        assert crowd.outcomes["too_much_at_once"] > 0
