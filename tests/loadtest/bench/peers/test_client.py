"""The contestants' client against a real HTTP server of known speed."""

from __future__ import annotations

import pytest

from loadtest.bench.peers.client import TIMEOUT_SECONDS, answer_all, answer_at
from tests.support.answering_server import Pace, answering

TEXTS = [f"text {'x' * number}" for number in range(12)]


def test_every_text_is_answered_once_and_in_its_place() -> None:
    pace = Pace()
    with answering(pace) as url:
        answered = answer_all(url, TEXTS, at_once=4)
    assert [entities[0]["end"] for entities in answered.entities] == [len(text) for text in TEXTS]
    assert sorted(pace.came) == sorted([text] for text in TEXTS)


def test_a_failed_request_is_no_figure() -> None:
    with answering(Pace(status=500)) as url, pytest.raises(RuntimeError, match="500"):
        answer_all(url, TEXTS, at_once=4)


def test_latency_counts_from_the_time_at_which_a_request_was_due() -> None:
    """Offered twice its capacity, a server falls behind: the last requests wait for all before them."""
    with answering(Pace(0.05)) as url:
        latency = answer_at(url, TEXTS, rate=40.0, seconds=2.0)
    assert latency.unanswered == 0
    assert latency.sustained <= 21.0
    assert latency.p99_ms > 500.0
    assert 40 < latency.requests < 120


def test_a_refusal_counts_as_the_longest_wait() -> None:
    with answering(Pace(status=503)) as url:
        latency = answer_at(url, TEXTS, rate=50.0, seconds=0.5)
    assert latency.unanswered == latency.requests > 0
    assert latency.p50_ms == TIMEOUT_SECONDS * 1000
    assert latency.sustained == 0.0
