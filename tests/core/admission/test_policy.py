"""Admission policy: one rule for queues that documents share, and refusals that say when to ask again."""

from __future__ import annotations

import math

import pytest

from service.core.admission.policy import ADMIT, RESERVE, WAIT, QueueState, late, over_quota, over_wait, refuse
from service.core.errors import DeadlineExceeded, QueueFull, RateLimited
from service.core.tenants import ClientQuota


def test_only_a_refusal_raises_and_raises_the_error_of_its_code() -> None:
    ADMIT.enforce()
    WAIT.enforce()
    with pytest.raises(RateLimited) as raised:
        refuse("rate_limited", "too much", 2.5).enforce()
    assert (raised.value.detail, raised.value.retry_after_seconds) == ("too much", 2.5)


@pytest.mark.parametrize(
    ("queue", "tokens", "left", "code"),
    [
        (QueueState(100.0), 10_000, 100.0, ""),
        (QueueState(100.0), 10_001, 100.0, "deadline_exceeded"),
        (QueueState(math.inf), 10**9, 0.0, ""),
        (QueueState(math.inf), 10**9, -0.1, "deadline_exceeded"),
        (QueueState(math.inf, counted_tokens=91, limit_tokens=100), 9, 1.0, ""),
        (QueueState(math.inf, counted_tokens=91, limit_tokens=100), 10, 1.0, "queue_full"),
        (QueueState(math.inf, counted_tokens=91, limit_tokens=100, has_room=True), 10, 1.0, ""),
        (QueueState(math.inf, counted_tokens=0, limit_tokens=100), 1_000, 1.0, ""),
        (QueueState(100.0, waiting_tokens=900, documents=1), 100, 1.0 + RESERVE, ""),
        (QueueState(100.0, waiting_tokens=900, documents=9), 100, 1.0 + RESERVE, "deadline_exceeded"),
        (QueueState(100.0, waiting_tokens=900, due_tokens=900), 100, 9.9, "deadline_exceeded"),
        (QueueState(100.0, running_tokens=100), 100, 1.9, "deadline_exceeded"),
    ],
)
def test_a_shared_queue_refuses_what_does_not_fit_or_would_be_late(
    queue: QueueState, tokens: int, left: float, code: str
) -> None:
    assert queue.decide(tokens, left).code == code


def test_refusals_say_when_to_ask_again() -> None:
    full = QueueState(10.0, waiting_tokens=95, counted_tokens=95, limit_tokens=100).decide(25, 1e9)
    assert (type(full.error), full.retry_after_seconds) == (QueueFull, 2.0)
    behind = QueueState(10.0, waiting_tokens=50, documents=9).decide(25, 3.0)
    assert (type(behind.error), behind.retry_after_seconds) == (DeadlineExceeded, 5.0)
    assert over_wait("it begins", 3.0, 1.0).retry_after_seconds == 2.0
    assert over_wait("it begins", 1.0, 1.0) is ADMIT
    assert late(1.0, 1.0, None) is ADMIT


def test_a_client_s_quota_limits_its_documents_and_waiting_tokens() -> None:
    assert over_quota(ClientQuota(documents_in_flight=2), 1, 0, 10**6, 10.0) is ADMIT
    assert over_quota(ClientQuota(documents_in_flight=2), 2, 50, 1, 10.0).retry_after_seconds == 5.0
    assert over_quota(ClientQuota(queued_tokens=100), 1, 0, 10**6, 10.0) is ADMIT
    assert over_quota(ClientQuota(queued_tokens=100), 1, 60, 41, 10.0).code == "rate_limited"
