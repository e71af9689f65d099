"""Batch watch: a batch that hangs is told from one that is slow, split, or waits for other work of the device."""

from __future__ import annotations

from service.core.lifecycle.batch_watch import FLOOR_SECONDS, MOST_SECONDS, MULTIPLE, BatchWatch


def test_a_batch_without_progress_hangs_after_the_limit_and_a_delivered_one_never() -> None:
    watch = BatchWatch()
    assert not watch.hung_seconds((1, 1), 0.0)
    assert not watch.hung_seconds((1, 1), FLOOR_SECONDS)
    assert not watch.hung_seconds((2, 1), FLOOR_SECONDS + 1)
    assert not watch.hung_seconds(None, 2 * FLOOR_SECONDS + 2)
    assert not watch.hung_seconds((3, 1), 1_000.0)
    assert watch.hung_seconds((3, 1), 1_000.0 + FLOOR_SECONDS + 0.1)


def test_the_limit_is_a_multiple_of_the_longest_batch_between_floor_and_ceiling() -> None:
    watch = BatchWatch()
    for seconds, limit in ((0.2, FLOOR_SECONDS), (20.0, 20 * MULTIPLE), (3.0, 20 * MULTIPLE), (1e4, MOST_SECONDS)):
        watch.measured(seconds)
        assert watch.limit_seconds == limit


def test_each_further_try_of_a_split_batch_is_progress() -> None:
    watch = BatchWatch()
    assert not any(watch.hung_seconds((1, attempts), attempts * FLOOR_SECONDS) for attempts in range(1, 50))


def test_a_batch_that_has_not_begun_waits_for_other_work_of_the_device() -> None:
    watch = BatchWatch()
    assert not watch.hung_seconds((1, 0), 0.0)
    assert not watch.hung_seconds((1, 0), MOST_SECONDS)
    assert watch.hung_seconds((1, 0), MOST_SECONDS + 0.1)
