"""Admission: refused where the queue is full, or a deadline cannot be met."""

from __future__ import annotations

import pytest

from tests.support.submissions import scheduler, submission


def test_a_full_queue_refuses_and_says_for_how_long() -> None:
    queue = scheduler(queue_tokens=100)
    assert queue.admit(submission("a", 80), 0.0, 10.0) is None
    refusal = queue.admit(submission("b", 40), 0.0, 10.0)
    assert refusal is not None
    assert refusal.code == "queue_full"
    assert refusal.retry_after_seconds == pytest.approx(2.0)


def test_a_document_over_the_queue_limit_passes_an_empty_queue() -> None:
    queue = scheduler(queue_tokens=100)
    assert queue.admit(submission("a", *[50] * 10), 0.0, None) is None


def test_a_deadline_that_cannot_be_met_is_refused_at_the_door() -> None:
    queue = scheduler()
    queue.admit(submission("a", 400), 0.0, 100.0)
    refusal = queue.admit(submission("b", 400, deadline_seconds=5.0), 0.0, 100.0)
    assert refusal is not None
    assert refusal.code == "deadline_exceeded"
    assert queue.admit(submission("c", 400, deadline_seconds=10.0), 0.0, 100.0) is None


def test_a_short_document_is_not_refused_for_a_long_one_before_it() -> None:
    queue = scheduler(queue_tokens=1_000_000)
    queue.admit(submission("long", *[500] * 1000), 0.0, 1000.0)
    assert queue.admit(submission("short", 100, deadline_seconds=1.0), 0.0, 1000.0) is None


def test_a_model_that_fills_the_queue_does_not_shut_the_door_on_the_others() -> None:
    queue = scheduler(queue_tokens=100)
    queue.set_weight("flood", 1.0)
    queue.set_weight("quiet", 1.0)
    assert queue.admit(submission("a", 100, model="flood"), 0.0, 10.0) is None
    assert queue.admit(submission("b", 50, model="quiet"), 0.0, 10.0) is None
    for key, model in (("c", "flood"), ("d", "quiet")):
        refusal = queue.admit(submission(key, 10, model=model), 0.0, 10.0)
        assert refusal is not None
        assert refusal.code == "queue_full"


def test_a_document_that_would_make_others_late_is_refused() -> None:
    queue = scheduler()
    assert queue.admit(submission("promised", 400, deadline_seconds=5.0), 0.0, 100.0) is None
    queue.expire(0.1, 100.0)
    refusal = queue.admit(submission("pusher", 100, deadline_seconds=4.9), 0.1, 100.0)
    assert refusal is not None
    assert "would miss their deadlines" in refusal.detail
