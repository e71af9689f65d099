"""The refusal cache: which documents a cached refusal applies to, for how long, and what is counted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.core.admission.size import MOST_KINDS, RefusalCache, WorkEstimate
from service.core.errors import DeadlineExceeded, Draining, QueueFull
from service.core.types import Priority

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


def test_a_request_is_refused_where_each_of_its_documents_would_be_and_they_are_counted() -> None:
    cache = cache_with()
    again = replace(ESTIMATE, at_seconds=10.2)
    with pytest.raises(DeadlineExceeded, match="about 5 s"):
        cache.check_all([again, replace(again, size=2_000)])
    assert cache.take_counts() == {"deadline_exceeded": (2, 1_200)}


@pytest.mark.parametrize("others", [[], [{"size": 500}], [{}, {"format": "PDF"}], [{}, {}, {"size": 10}]], ids=len)
def test_a_request_is_not_refused_where_one_of_its_documents_has_better_chances(
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
