"""The refusal cache: which documents a cached refusal applies to, for how long, and what is counted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.api.engine.refusal_cache import RefusalCache, WorkEstimate
from service.core.errors import DeadlineExceeded, Draining, QueueFull
from service.core.types import Priority

ESTIMATE = WorkEstimate("sha256:0", "c", Priority.INTERACTIVE, "text", 1_000, 10.0, 4.0)
LATE = DeadlineExceeded("about 5 s are needed", retry_after_seconds=3.0)


def cache_with(error: DeadlineExceeded | QueueFull = LATE) -> RefusalCache:
    cache = RefusalCache()
    cache.remember(ESTIMATE, 400, error, 10.1)
    return cache


def test_a_door_lets_everything_pass_at_first() -> None:
    RefusalCache().check(ESTIMATE)


def test_one_like_it_is_refused_in_the_same_words() -> None:
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
        {"media_type": "application/pdf"},
        {"at_seconds": 10.61},
    ],
    ids=lambda other: next(iter(other)),
)
def test_one_that_may_fare_better_asks_the_engine(other: dict[str, object]) -> None:
    cache_with().check(replace(ESTIMATE, **{"at_seconds": 10.2, **other}))  # type: ignore[arg-type]


def test_a_full_queue_is_full_for_the_patient_too() -> None:
    with pytest.raises(QueueFull):
        cache_with(QueueFull("full")).check(replace(ESTIMATE, at_seconds=10.2, left_seconds=300.0))


def test_a_refusal_after_waiting_says_nothing_of_the_door() -> None:
    cache = RefusalCache()
    cache.remember(ESTIMATE, 400, LATE, 13.9)
    cache.check(replace(ESTIMATE, at_seconds=13.9))


def test_a_refusal_for_another_reason_says_nothing_of_the_door() -> None:
    cache = RefusalCache()
    cache.remember(ESTIMATE, 400, Draining("bye"), 10.1)
    cache.check(replace(ESTIMATE, at_seconds=10.1))


def test_who_has_little_time_gets_a_fresh_answer_sooner() -> None:
    cache = RefusalCache()
    cache.remember(replace(ESTIMATE, left_seconds=0.8), 400, LATE, 10.05)
    cache.check(replace(ESTIMATE, at_seconds=10.16, left_seconds=0.8))


def test_what_was_turned_away_is_counted_once_with_its_tokens() -> None:
    cache = cache_with()
    for size in (1_000, 2_000):
        with pytest.raises(DeadlineExceeded):
            cache.check(replace(ESTIMATE, at_seconds=10.2, size=size))
    assert cache.take_counts() == {"deadline_exceeded": (2, 1_200)}
    assert cache.take_counts() == {}
