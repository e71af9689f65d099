"""Retries: exponential backoff with full jitter, until a time limit that restarts with every progress.

The limit counts from the last progress, not from the first try: a slow connection is not an error, one that delivers
nothing for a minute is. Waits are drawn uniformly from [0, ceiling], and the ceiling doubles with each failure, so that
clients that were throttled together do not return together. The clock is passed in.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from model_store.errors import RemoteUnavailable

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The time limit without any progress, and the ceilings of the first and the longest wait."""

    limit_seconds: float = 60.0
    first_wait_seconds: float = 0.1
    longest_wait_seconds: float = 8.0
    random: Callable[[], float] = random.random
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def wait_seconds(self, failures: int) -> float:
        """The wait after `failures` consecutive failures."""
        ceiling = min(self.longest_wait_seconds, self.first_wait_seconds * 2.0 ** min(failures - 1, 30))
        return ceiling * self.random()


DEFAULT_RETRY = RetryPolicy()


class Attempts:
    """Counts consecutive failures of one operation and waits between its attempts."""

    def __init__(self, policy: RetryPolicy) -> None:
        self._policy = policy
        self.progress()

    def progress(self) -> None:
        """Reset the count and the time limit."""
        self._failures = 0
        self._since_seconds = self._policy.clock()

    def failed(self, error: RemoteUnavailable) -> None:
        """Wait before the next attempt; raises `error`, with the number of attempts, if that exceeds the limit."""
        self._failures += 1
        wait_seconds = self._policy.wait_seconds(self._failures)
        tried_seconds = self._policy.clock() - self._since_seconds
        if tried_seconds + wait_seconds > self._policy.limit_seconds:
            attempts = "once" if self._failures == 1 else f"{self._failures} times in {tried_seconds:.0f} s"
            raise RemoteUnavailable(f"{error.detail} It was tried {attempts}.") from error
        self._policy.sleep(wait_seconds)


def with_retries(policy: RetryPolicy, work: Callable[[], Result]) -> Result:
    """The result of `work`, repeated while it raises RemoteUnavailable and the policy allows."""
    attempts = Attempts(policy)
    while True:
        try:
            return work()
        except RemoteUnavailable as error:
            attempts.failed(error)
