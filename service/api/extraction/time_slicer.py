"""A cooperative scheduler of short work on the event loop: in order of arrival, for about a millisecond at a time.

A short piece of work is done here sooner than a thread would have begun it, but those of a batch together would stop
the loop. So a slice ends after about a millisecond, and the next one begins after one iteration of the loop: sockets,
timers and tasks that are ready come first. The rule: work whose caller was cancelled is skipped, and neither that nor
an error keeps the next piece from its turn.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

SLICE_SECONDS = 0.001
"""A slice ends with the piece of work that reaches this."""

_T = TypeVar("_T")


class TimeSlicer:
    """The queue of short work of one event loop. `clock`: seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._waiting: deque[tuple[Callable[[], Any], asyncio.Future[Any]]] = deque()

    async def run(self, work: Callable[[], _T]) -> _T:
        """Wait for the work's turn, then do it: returns or raises what it does."""
        loop = asyncio.get_running_loop()
        result: asyncio.Future[_T] = loop.create_future()
        if not self._waiting:
            loop.call_soon(self._slice)
        self._waiting.append((work, result))
        return await result

    def _slice(self) -> None:
        """Do waiting work for one slice. Another slice is scheduled exactly while work waits."""
        end = self._clock() + SLICE_SECONDS
        try:
            while self._waiting and self._clock() < end:
                _do(*self._waiting.popleft())
        finally:
            if self._waiting:
                asyncio.get_running_loop().call_soon(self._slice)


def _do(work: Callable[[], Any], result: asyncio.Future[Any]) -> None:
    if result.cancelled():
        return
    try:
        result.set_result(work())
    except Exception as error:
        result.set_exception(error)
