"""A client asks again under its Idempotency-Key, and nothing is computed twice: across workers, deaths and hang-ups."""

from __future__ import annotations

import http.client
import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.support.extraction import TEXT, assert_problem
from tests.support.processes import children_of
from tests.support.service import PLAIN, Service, serving, wait_until

LONG = TEXT * 4_000
PACE = 20_000
"""Tokens a second: a long text takes seconds, in which its client can hang up or its worker die."""


@pytest.fixture(scope="module")
def paced(home: Path) -> Iterator[Service]:
    """Two workers, so that tries of one request come to both."""
    with serving(home, MODELS="tiny", WORKERS=2, PACE_TOKENS_PER_SECOND=PACE) as service:
        yield service


def ask(service: Service, key: str, text: str = TEXT, *, accept: str = "application/json") -> httpx.Response:
    headers = {"Idempotency-Key": key, "Accept": accept}
    return httpx.post(service.url + "/extract", json={"text": text}, headers=headers, timeout=120.0, verify=PLAIN)


def wait_until_it_runs(service: Service) -> None:
    """The gauges of the queue are set twice a second."""
    wait_until(lambda: service.metric("gleaner_queue_tokens") > 0)


def computed(service: Service) -> float:
    """Documents that were finished."""
    return service.metric('gleaner_documents_total{outcome="ok"}')


def test_many_tries_at_once_are_computed_once_and_answered_alike(paced: Service) -> None:
    before = computed(paced)
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: ask(paced, "at once", LONG), range(12)))
    assert [answer.status_code for answer in answers] == [200] * 12
    assert len({answer.content for answer in answers}) == 1
    assert sum("Idempotent-Replayed" in answer.headers for answer in answers) == 11
    assert computed(paced) == before + 1


def test_lines_are_given_again(paced: Service) -> None:
    before = computed(paced)
    answers = [ask(paced, "lines", accept="application/x-ndjson") for _ in range(6)]
    assert len({answer.content for answer in answers}) == 1
    assert {answer.headers["Content-Type"] for answer in answers} == {"application/x-ndjson"}
    assert computed(paced) == before + 1


def test_another_request_under_a_key_is_refused_by_every_worker(paced: Service) -> None:
    assert ask(paced, "once").status_code == 200
    for _ in range(6):
        assert_problem(ask(paced, "once", TEXT + " more"), 422, "invalid_options")
    assert_problem(ask(paced, "k" * 256), 400, "malformed_request")


def test_a_request_whose_client_hung_up_is_finished_and_its_answer_waits(paced: Service) -> None:
    wait_until(lambda: paced.metric("gleaner_queue_tokens") == 0)
    before = computed(paced)
    with closing(http.client.HTTPConnection(paced.url.removeprefix("http://"))) as caller:
        headers = {"Content-Type": "application/json", "Idempotency-Key": "hung up"}
        caller.request("POST", "/extract", json.dumps({"text": LONG}), headers)
        wait_until_it_runs(paced)
    answer = ask(paced, "hung up", LONG)
    assert answer.status_code == 200
    assert answer.headers["Idempotent-Replayed"] == "true"
    assert computed(paced) == before + 1


def test_a_try_after_its_worker_was_killed_is_answered_by_another(paced: Service) -> None:
    wait_until(lambda: paced.metric("gleaner_queue_tokens") == 0)
    with ThreadPoolExecutor(1) as pool:
        lost = pool.submit(ask, paced, "killed", LONG)
        wait_until_it_runs(paced)
        for worker in children_of(paced.child("api")):
            os.kill(worker, signal.SIGKILL)
        with pytest.raises(httpx.HTTPError):
            lost.result()
    wait_until(paced.is_ready)
    answers = [ask(paced, "killed", LONG) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].content == answers[1].content
