"""What the engine would refuse for its tokens is refused as soon as so many are known, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.api.engine.token_allowance import check_tokens
from service.core.errors import DeadlineExceeded, Overloaded, QueueFull
from service.core.scheduling.scheduler import QueueLimits, Scheduler
from service.core.types import Load, Phase
from service.wire import Status
from tests.support.submissions import submission

STATUS = Status("1", Phase.READY, load=Load(tokens=500), tokens_per_second=1_000.0, queue_limit_tokens=10_000)


def test_a_document_that_the_device_can_compute_in_time_may_go_on() -> None:
    check_tokens(10_000, STATUS, deadline_seconds=30.0, now=20.0)
    check_tokens(10**9, replace(STATUS, tokens_per_second=None, load=Load()), deadline_seconds=30.0, now=20.0)


def test_more_tokens_than_the_time_allows_are_a_missed_deadline() -> None:
    with pytest.raises(DeadlineExceeded, match=r"10\.5 s or more are needed and 10\.0 s are left") as caught:
        check_tokens(10_500, replace(STATUS, load=Load(tokens=2_000), queue_limit_tokens=0), 30.0, 20.0)
    assert caught.value.retry_after_seconds == 2.0


def test_a_document_longer_than_the_queue_waits_for_an_empty_one() -> None:
    with pytest.raises(QueueFull, match="the limit is 10000") as caught:
        check_tokens(10_001, STATUS, 300.0, 20.0)
    assert caught.value.retry_after_seconds == pytest.approx(0.501)
    check_tokens(10_001, replace(STATUS, load=Load()), 300.0, 20.0)


@given(
    waiting=st.integers(0, 3_000),
    lengths=st.lists(st.integers(1, 400), min_size=1, max_size=20),
    limit=st.integers(2, 4_000),
    speed=st.none() | st.floats(1, 10_000),
    left=st.floats(0.0, 10.0),
)
def test_the_engine_would_refuse_it_too(
    waiting: int, lengths: list[int], limit: int, speed: float | None, left: float
) -> None:
    scheduler: Scheduler[None] = Scheduler(QueueLimits(limit))
    if waiting:
        scheduler.admit(submission("waiting", waiting), 0.0, None)
    asked = replace(submission("asked", *lengths), deadline_seconds=left)
    load, most = scheduler.load(0.0), scheduler.limits.queue_tokens
    status = Status("1", Phase.READY, load=load, tokens_per_second=speed, queue_limit_tokens=most)
    try:
        check_tokens(asked.tokens, status, left, 0.0)
    except Overloaded:
        assert scheduler.admit(asked, 0.0, speed) is not None
