"""Retries: the waits between attempts and the time limit, with a clock of the test."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from model_store.errors import RemoteRefused, RemoteUnavailable
from model_store.remote.retry import Attempts, RetryPolicy, with_retries


@dataclass(slots=True)
class Clock:
    now_seconds: float = 0.0

    def __call__(self) -> float:
        return self.now_seconds

    def sleep(self, seconds: float) -> None:
        self.now_seconds += seconds


def policy(clock: Clock, share: float = 1.0) -> RetryPolicy:
    return RetryPolicy(limit_seconds=10.0, random=lambda: share, clock=clock, sleep=clock.sleep)


def test_waits_double_up_to_a_limit_and_are_drawn_from_zero_to_that() -> None:
    full, half = policy(Clock()), policy(Clock(), share=0.5)
    assert [round(full.wait_seconds(failures), 3) for failures in (1, 2, 3, 7, 8, 1000)] == [0.1, 0.2, 0.4, 6.4, 8, 8]
    assert half.wait_seconds(3) == pytest.approx(0.2)


def test_work_is_repeated_until_it_succeeds() -> None:
    left = [3]

    def work() -> str:
        left[0] -= 1
        if left[0]:
            raise RemoteUnavailable("not now.")
        return "done"

    assert with_retries(policy(Clock()), work) == "done"


def test_the_error_after_the_limit_says_how_often_it_was_tried() -> None:
    clock = Clock()

    def work() -> None:
        raise RemoteUnavailable("not now.")

    with pytest.raises(RemoteUnavailable, match=r"not now\..* 7 times in 6 s"):
        with_retries(policy(clock), work)
    assert clock.now_seconds <= 10.0


def test_progress_restarts_the_time_limit() -> None:
    clock = Clock()
    attempts = Attempts(policy(clock))
    for _ in range(100):
        attempts.failed(RemoteUnavailable("not now."))
        attempts.progress()
    assert clock.now_seconds == pytest.approx(100 * 0.1)


def test_a_refusal_is_not_retried() -> None:
    tried = [0]

    def work() -> None:
        tried[0] += 1
        raise RemoteRefused("no.")

    with pytest.raises(RemoteRefused):
        with_retries(policy(Clock()), work)
    assert tried == [1]
