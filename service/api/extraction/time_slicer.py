"""A cooperative scheduler of short work on the event loop: fair between queues, about a millisecond at a time.

A short piece of work is done here sooner than a thread would have begun it, but those of a batch together would stop
the loop. So a slice ends after about a millisecond, or after some pieces, since what their callers do next costs time
too; the next one begins after one iteration of the loop: sockets, timers and tasks that are ready come first.

The rules: queues (a client's batches, its lone documents) take turns, each in order of arrival, so that nobody waits
for all that another has brought. Work whose caller was cancelled is skipped, and neither that nor an error keeps the
next piece from its turn.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

SLICE_SECONDS = 0.001
"""A slice ends with the piece of work that reaches this."""
MOST_PIECES = 8
"""A slice ends with this piece, however short they were."""

_T = TypeVar("_T")
_Piece = tuple[Callable[[], Any], asyncio.Future[Any]]


class TimeSlicer:
    """The queues of short work of one event loop. `clock`: seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._queues: dict[Hashable, deque[_Piece]] = {}
        self._spent_seconds = 0.0
        self._pieces = 0
        self._is_due = False

    async def run(self, work: Callable[[], _T], queue: Hashable = None, *, at_once: bool = False) -> _T:
        """Wait for the work's turn in its queue, then do it: returns or raises what it does.

        `at_once`: do it now where nothing waits, and this slice has room.
        """
        if at_once and not self._queues and self._has_room():
            self._look_again()
            return self._timed(work)
        result: asyncio.Future[_T] = asyncio.get_running_loop().create_future()
        self._look_again()
        self._queues.setdefault(queue, deque()).append((work, result))
        return await result

    async def turn(self, queue: Hashable) -> None:
        """Wait for a turn in a queue, in which the caller goes on by itself."""
        await self.run(_nothing, queue)

    def _has_room(self) -> bool:
        return self._spent_seconds < SLICE_SECONDS and self._pieces < MOST_PIECES

    def _look_again(self) -> None:
        """Have the next slice begin in the next iteration of the loop."""
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._slice)

    def _slice(self) -> None:
        """Do waiting work for one slice. Another slice is scheduled exactly while work waits."""
        self._spent_seconds, self._pieces, self._is_due = 0.0, 0, False
        try:
            while self._queues and self._has_room():
                self._do(*self._next())
        finally:
            if self._queues:
                self._look_again()

    def _next(self) -> _Piece:
        """The first piece of the queue whose turn it is, which then waits for all others'."""
        name, queue = next(iter(self._queues.items()))
        piece = queue.popleft()
        del self._queues[name]
        if queue:
            self._queues[name] = queue
        return piece

    def _do(self, work: Callable[[], Any], result: asyncio.Future[Any]) -> None:
        if result.cancelled():
            return
        try:
            result.set_result(self._timed(work))
        except Exception as error:
            result.set_exception(error)

    def _timed(self, work: Callable[[], _T]) -> _T:
        begun = self._clock()
        self._pieces += 1
        try:
            return work()
        finally:
            self._spent_seconds += self._clock() - begun


def _nothing() -> None:
    """The piece of work of who wants no more than a turn."""
