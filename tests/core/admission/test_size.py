"""Refused once a document's size is known: cached refusals, tokens beyond the queue, memory."""

from __future__ import annotations

import math
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.admission.policy import QueueState
from service.core.admission.size import LONG_TOKENS, MOST_KINDS, DocumentMemory, RefusalCache, WorkEstimate
from service.core.errors import (
    DeadlineExceeded,
    Draining,
    InsufficientMemory,
    Overloaded,
    QueueFull,
    TooLongForDeadline,
)
from service.core.scheduling.scheduler import QueueLimits, Scheduler
from service.core.types import Priority
from tests.support.submissions import submission

ESTIMATE = WorkEstimate("sha256:0", "c", Priority.INTERACTIVE, "text", 1_000, 10.0, 4.0)
LATE = DeadlineExceeded("about 5 s are needed", retry_after_seconds=3.0)


def cache_with(error: DeadlineExceeded | QueueFull = LATE) -> RefusalCache:
    cache = RefusalCache()
    cache.remember(ESTIMATE, 400, error, 10.1)
    return cache


def test_an_empty_cache_refuses_nothing() -> None:
    RefusalCache().check(ESTIMATE)


def test_a_similar_document_is_refused_with_the_cached_error() -> None:
    with pytest.raises(DeadlineExceeded, match="about 5 s") as refusal:
        cache_with().check(replace(ESTIMATE, at_seconds=10.2))
    assert refusal.value.retry_after_seconds == 3.0


@pytest.mark.parametrize(
    "other",
    [
        {"size": 500},
        {"left_seconds": 9.0},
        {"client": "d"},
        {"model": "sha256:1"},
        {"priority": Priority.BATCH},
        {"format": "PDF"},
        {"at_seconds": 10.61},
    ],
    ids=lambda other: next(iter(other)),
)
def test_a_document_with_better_chances_is_not_refused(other: dict[str, object]) -> None:
    cache_with().check(replace(ESTIMATE, **{"at_seconds": 10.2, **other}))  # type: ignore[arg-type]


def test_a_request_is_refused_if_each_document_would_be_and_is_counted() -> None:
    cache = cache_with()
    again = replace(ESTIMATE, at_seconds=10.2)
    with pytest.raises(DeadlineExceeded, match="about 5 s"):
        cache.check_all([again, replace(again, size=2_000)])
    assert cache.take_counts() == {"deadline_exceeded": (2, 1_200)}


@pytest.mark.parametrize("others", [[], [{"size": 500}], [{}, {"format": "PDF"}], [{}, {}, {"size": 10}]], ids=len)
def test_a_request_is_not_refused_if_one_document_has_better_chances(
    others: list[dict[str, object]],
) -> None:
    cache = cache_with()
    cache.check_all([replace(ESTIMATE, **{"at_seconds": 10.2, **other}) for other in others])  # type: ignore[arg-type]
    assert not cache.take_counts()


def test_a_full_queue_refuses_late_deadlines_too() -> None:
    with pytest.raises(QueueFull):
        cache_with(QueueFull("full")).check(replace(ESTIMATE, at_seconds=10.2, left_seconds=300.0))


def test_a_refusal_after_a_wait_is_not_cached() -> None:
    cache = RefusalCache()
    cache.remember(ESTIMATE, 400, LATE, 13.9)
    cache.check(replace(ESTIMATE, at_seconds=13.9))


def test_a_refusal_for_another_reason_is_not_cached() -> None:
    cache = RefusalCache()
    cache.remember(ESTIMATE, 400, Draining("bye"), 10.1)
    cache.check(replace(ESTIMATE, at_seconds=10.1))


def test_a_short_deadline_shortens_the_cache_lifetime() -> None:
    cache = RefusalCache()
    cache.remember(replace(ESTIMATE, left_seconds=0.8), 400, LATE, 10.05)
    cache.check(replace(ESTIMATE, at_seconds=10.16, left_seconds=0.8))


def test_refused_documents_are_counted_once_with_their_tokens() -> None:
    cache = cache_with()
    for size in (1_000, 2_000):
        with pytest.raises(DeadlineExceeded):
            cache.check(replace(ESTIMATE, at_seconds=10.2, size=size))
    assert cache.take_counts() == {"deadline_exceeded": (2, 1_200)}
    assert cache.take_counts() == {}


def test_the_refusals_of_many_clients_do_not_stay() -> None:
    cache = RefusalCache()
    for number in range(4 * MOST_KINDS):
        now = 10.1 + number / 1_000
        cache.remember(replace(ESTIMATE, client=str(number), at_seconds=now), 400, LATE, now)
    assert len(cache) <= MOST_KINDS


QUEUE = QueueState(1_000.0, waiting_tokens=500, counted_tokens=500, limit_tokens=10_000)


def test_a_document_that_the_device_can_compute_in_time_may_go_on() -> None:
    assert not QUEUE.certain(10_000, left_seconds=10.0).refuses
    assert not QueueState(math.inf, limit_tokens=10_000).certain(10**9, 10.0).refuses


def test_more_tokens_than_the_time_allows_are_a_missed_deadline() -> None:
    decision = QueueState(1_000.0, waiting_tokens=2_000, counted_tokens=2_000).certain(10_500, 10.0)
    assert (decision.code, decision.retry_after_seconds) == ("deadline_exceeded", 2.0)


def test_a_document_longer_than_the_queue_waits_for_an_empty_one() -> None:
    decision = QUEUE.certain(10_001, 280.0)
    assert decision.code == "queue_full"
    assert decision.retry_after_seconds == pytest.approx(0.501)
    assert not QueueState(1_000.0, limit_tokens=10_000).certain(10_001, 280.0).refuses


def test_a_refusal_for_tokens_is_counted_and_cached() -> None:
    cache, estimate = RefusalCache(), replace(ESTIMATE, alone_tokens_per_second=1_000.0)
    with pytest.raises(DeadlineExceeded):
        cache.check_tokens(estimate, 5_000, QUEUE, 10.1)
    assert cache.take_counts() == {"deadline_exceeded": (1, 5_000)}
    with pytest.raises(DeadlineExceeded):
        cache.check(estimate)


ALONE = replace(ESTIMATE, allowed_seconds=4.0, alone_tokens_per_second=1_000.0)
"""A document for which an idle engine has time for 4,000 tokens."""


def test_more_tokens_than_an_idle_engine_has_time_for_are_too_long() -> None:
    cache = RefusalCache()
    cache.check_tokens(ALONE, 3_900, QUEUE, 10.0)
    with pytest.raises(
        TooLongForDeadline, match=r"about 4\.0 s .* leaves 4\.0 s; set a longer `deadline_ms`, or split"
    ):
        cache.check_tokens(ALONE, 4_001, QUEUE, 10.0)
    assert cache.take_counts() == {}
    cache.check(ALONE)


def test_the_sentence_tells_the_time_for_all_tokens_not_for_those_counted() -> None:
    with pytest.raises(TooLongForDeadline, match=r"about 60\.0 s"):
        RefusalCache().check_tokens(ALONE, 4_001, QUEUE, 10.0, expected_tokens=60_000.0)


def test_a_document_too_long_for_its_deadline_is_so_in_a_full_queue_too() -> None:
    full = QueueState(1_000.0, waiting_tokens=9_000, counted_tokens=9_000, limit_tokens=9_000)
    with pytest.raises(TooLongForDeadline):
        RefusalCache().check_tokens(ALONE, 4_001, full, 10.0)


@pytest.mark.parametrize("waiting", [0, 9_000])
def test_a_document_that_seems_too_long_is_counted_until_that_is_certain(waiting: int) -> None:
    """Though it waited, and would be late or beyond the queue by now."""
    engine = QueueState(1_000.0, waiting_tokens=waiting, counted_tokens=waiting, limit_tokens=10_000)
    cache = RefusalCache()
    cache.check_tokens(ALONE, 3_900, engine, 13.0, expected_tokens=60_000.0)
    with pytest.raises(TooLongForDeadline):
        cache.check_tokens(ALONE, 4_001, engine, 13.0, expected_tokens=60_000.0)
    with pytest.raises(Overloaded):
        cache.check_tokens(ALONE, 3_900, engine, 13.0, expected_tokens=3_900.0)


def test_nothing_is_late_for_a_worker_without_a_speed() -> None:
    RefusalCache().check_tokens(replace(ALONE, alone_tokens_per_second=None), 10_000, QUEUE, 10.0)


@pytest.mark.parametrize("error", [LATE, QueueFull("full")])
def test_a_cached_refusal_for_load_spares_what_seems_too_long(error: DeadlineExceeded | QueueFull) -> None:
    """Its tokens are counted, so that it gets its own code and is no demand."""
    cache = cache_with(error)
    cache.check(replace(ALONE, at_seconds=10.2, size=11_000))
    assert cache.take_counts() == {}
    with pytest.raises(type(error)):
        cache.check(replace(ALONE, at_seconds=10.2, size=9_000))
    assert cache.take_counts() == {error.code: (1, 3_600)}


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
    asked = msgspec.structs.replace(submission("asked", *lengths), deadline_seconds=left)
    tokens = scheduler.load(0.0).tokens
    known = QueueState(speed or math.inf, waiting_tokens=tokens, counted_tokens=tokens, limit_tokens=limit)
    if known.certain(asked.tokens, left).refuses:
        assert scheduler.admit(asked, 0.0, speed) is not None


FREE = 200_000_000
LABELS = 50
FITTING = 100_000
"""Tokens whose 70 MB fit into half of that, once."""


def test_a_short_document_reserves_nothing_and_asks_for_nothing() -> None:
    with DocumentMemory(lambda: 0).lease() as lease:
        lease.grow(LONG_TOKENS, LABELS)
        assert lease.bytes == 0


def test_a_lease_grows_with_its_document_and_ends_with_it() -> None:
    memory = DocumentMemory(lambda: FREE)
    with memory.lease() as lease:
        lease.grow(FITTING // 5 * 4, LABELS)
        before = memory.reserved_bytes
        lease.grow(FITTING, LABELS)
        assert 0 < before < memory.reserved_bytes == lease.bytes
    assert memory.reserved_bytes == 0


def test_tokens_are_reserved_beside_pictures() -> None:
    memory = DocumentMemory(lambda: FREE)
    with memory.lease() as lease:
        lease.hold_pictures(1_000)
        assert (pictures := lease.bytes) >= 2_000
        lease.grow(LONG_TOKENS + 1, LABELS)
        with memory.lease() as other:
            other.grow(LONG_TOKENS + 1, LABELS)
            assert lease.bytes == pictures + other.bytes


def test_what_others_have_reserved_is_not_free() -> None:
    memory = DocumentMemory(lambda: FREE)
    with memory.lease() as first, memory.lease() as second:
        first.grow(FITTING, LABELS)
        with pytest.raises(QueueFull, match="70 MB of memory reserved") as caught:
            second.grow(FITTING, LABELS)
        assert caught.value.retry_after_seconds
    with memory.lease() as third:
        third.grow(FITTING, LABELS)


def test_what_does_not_fit_alone_is_insufficient_memory() -> None:
    memory = DocumentMemory(lambda: FREE)
    with memory.lease() as lease, pytest.raises(InsufficientMemory, match="140 MB of memory or more, and 100 MB are"):
        lease.grow(2 * FITTING, LABELS)
    assert memory.reserved_bytes == 0


def test_tokens_that_the_engine_may_admit_are_neither_refused_nor_cached() -> None:
    refusals = RefusalCache()
    refusals.check_tokens(ESTIMATE, 100, QueueState(1_000.0), ESTIMATE.at_seconds)
    refusals.check_all([ESTIMATE])
