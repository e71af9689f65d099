"""The contestants' client against a real HTTP server of known speed."""

from __future__ import annotations

import pytest

from loadtest.bench.peers.client import TIMEOUT_SECONDS, ThroughputRun, answer_all, answer_at
from tests.support.answering_server import Pace, answering

TEXTS = [f"text {'x' * number}" for number in range(12)]


def test_every_text_is_answered_once_and_in_its_place() -> None:
    pace = Pace()
    with answering(pace) as url:
        answered = answer_all(url, TEXTS, at_once=4)
    assert [entities[0]["end"] for entities in answered.entities] == [len(text) for text in TEXTS]
    assert sorted(pace.came) == sorted([text] for text in TEXTS)


def test_several_texts_may_share_a_request() -> None:
    pace = Pace()
    with answering(pace) as url:
        answered = answer_all(url, TEXTS, at_once=2, per_request=5)
    assert [len(texts) for texts in sorted(pace.came)] == [5, 5, 2]
    assert len(answered.entities) == len(TEXTS)


def test_a_sample_in_two_rounds_counts_twice_and_has_its_entities_once() -> None:
    pace = Pace()
    with answering(pace) as url:
        answered = answer_all(url, TEXTS, at_once=4, rounds=2)
    assert sorted(pace.came) == sorted([text] for text in 2 * TEXTS)
    assert [entities[0]["end"] for entities in answered.entities] == [len(text) for text in TEXTS]
    assert answered.per_second == pytest.approx(2 * len(TEXTS) / answered.seconds)


def test_two_runs_count_as_one() -> None:
    both = ThroughputRun(2.0, [[], []]) + ThroughputRun(3.0, [[], []])
    assert both == ThroughputRun(5.0, [[], []], rounds=2)
    assert both.per_second == pytest.approx(4 / 5)


def test_documents_a_second_are_those_of_the_server() -> None:
    with answering(Pace(0.02)) as url:
        answered = answer_all(url, TEXTS, at_once=12)
    assert 1.0 < answered.per_second <= 50.0


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
