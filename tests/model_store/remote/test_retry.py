"""How long to wait and when to give up, with a clock of our own."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from model_store.errors import RemoteRefused, RemoteUnavailable
from model_store.remote.retry import Patience, Tries, again


@dataclass(slots=True)
class Clock:
    now_seconds: float = 0.0

    def __call__(self) -> float:
        return self.now_seconds

    def sleep(self, seconds: float) -> None:
        self.now_seconds += seconds


def patience(clock: Clock, share: float = 1.0) -> Patience:
    return Patience(limit_seconds=10.0, random=lambda: share, clock=clock, sleep=clock.sleep)


def test_waits_double_up_to_a_limit_and_are_drawn_from_zero_to_that() -> None:
    full, half = patience(Clock()), patience(Clock(), share=0.5)
    assert [round(full.wait_seconds(failures), 3) for failures in (1, 2, 3, 7, 8, 1000)] == [0.1, 0.2, 0.4, 6.4, 8, 8]
    assert half.wait_seconds(3) == pytest.approx(0.2)


def test_work_is_tried_until_it_succeeds() -> None:
    left = [3]

    def work() -> str:
        left[0] -= 1
        if left[0]:
            raise RemoteUnavailable("not now.")
        return "done"

    assert again(patience(Clock()), work) == "done"


def test_giving_up_says_how_often_and_how_long_it_was_tried() -> None:
    clock = Clock()

    def work() -> None:
        raise RemoteUnavailable("not now.")

    with pytest.raises(RemoteUnavailable, match=r"not now\. It was tried 7 times in 6 s\."):
        again(patience(clock), work)
    assert clock.now_seconds <= 10.0


def test_progress_starts_the_time_anew() -> None:
    clock = Clock()
    tries = Tries(patience(clock))
    for _ in range(100):
        tries.failed(RemoteUnavailable("not now."))
        tries.progress()
    assert clock.now_seconds == pytest.approx(100 * 0.1)


def test_what_was_refused_is_not_tried_again() -> None:
    tried = [0]

    def work() -> None:
        tried[0] += 1
        raise RemoteRefused("no.")

    with pytest.raises(RemoteRefused):
        again(patience(Clock()), work)
    assert tried == [1]
