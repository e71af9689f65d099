"""Trying again: how long to wait between tries, with jitter, and when to give up. The clock is passed in.

The limit counts from the last progress, not from the first try: a slow link that moves is none of our business, a
server that gives nothing for a minute is. Waits grow from a tenth of a second to some seconds and are drawn evenly from
[0, that], so that a fleet which was throttled at one moment does not come back at one moment.
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
class Patience:
    """How long to go on without any progress, and how long to wait between two tries."""

    limit_seconds: float = 60.0
    first_wait_seconds: float = 0.1
    longest_wait_seconds: float = 8.0
    random: Callable[[], float] = random.random
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def wait_seconds(self, failures: int) -> float:
        """The wait after this many failures in a row."""
        ceiling = min(self.longest_wait_seconds, self.first_wait_seconds * 2.0 ** min(failures - 1, 30))
        return ceiling * self.random()


PATIENCE = Patience()


class Tries:
    """The tries of one piece of work: `failed` waits, or raises what it was given when the time is over."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self.progress()

    def progress(self) -> None:
        """Something was gained: the time starts anew."""
        self._failures = 0
        self._since_seconds = self._patience.clock()

    def failed(self, error: RemoteUnavailable) -> None:
        """Wait before the next try. Raises the error, with how long it was tried, when waiting would pass the limit."""
        self._failures += 1
        wait_seconds = self._patience.wait_seconds(self._failures)
        tried_seconds = self._patience.clock() - self._since_seconds
        if tried_seconds + wait_seconds > self._patience.limit_seconds:
            tries = "once" if self._failures == 1 else f"{self._failures} times in {tried_seconds:.0f} s"
            raise RemoteUnavailable(f"{error.detail} It was tried {tries}.") from error
        self._patience.sleep(wait_seconds)


def again(patience: Patience, work: Callable[[], Result]) -> Result:
    """The result of `work`, tried until it is not RemoteUnavailable or patience ends."""
    tries = Tries(patience)
    while True:
        try:
            return work()
        except RemoteUnavailable as error:
            tries.failed(error)
