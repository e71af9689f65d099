"""Text queue of a worker: when a text is tokenized, and which client's short work the event loop does next.

A text waits twice here, in this order. The throttle holds back a client's texts that the device does not need yet
(`core/admission/pacing`). The time slicer shares the event loop: a short piece of work is done there sooner than a
thread would have begun it, but those of a batch together would stop the loop. So a slice ends after about a
millisecond, or after some pieces, since what their callers do next costs time too; the next one begins after one
iteration of the loop: sockets, timers and tasks that are ready come first.

The rules of the slicer: queues (a client's batches, its lone documents) take turns, each in order of arrival, so that
nobody waits for all that another has brought. Work whose caller was cancelled is skipped, and neither that nor an error
keeps the next piece from its turn.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from service.core.admission.pacing import PacingPolicy, PacingTicket
from service.core.admission.policy import QueueState


class TokenizationThrottle:
    """The texts of one event loop that wait until they may be tokenized. `engine`: its queue, as it last said."""

    def __init__(self, engine: Callable[[], QueueState], clock: Callable[[], float] = time.monotonic) -> None:
        self._engine = engine
        self._clock = clock
        self._policy = PacingPolicy()
        self._waiting: dict[PacingTicket, asyncio.Future[None]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def enter(
        self, client: Hashable, characters: int, deadline_seconds: float, *, paced: bool, most_tokens: float = math.inf
    ) -> PacingTicket:
        """A ticket for a text until it leaves; as `PacingPolicy.enter`, also in what it raises."""
        engine, now = self._engine(), self._clock()
        return self._policy.enter(
            client, characters, deadline_seconds, engine, now, paced=paced, most_tokens=most_tokens
        )

    def estimate(self, client: Hashable, characters: int) -> float:
        """The tokens of a text, as its ticket would have them."""
        return self._policy.estimate(client, characters)

    def leave(self, ticket: PacingTicket) -> None:
        """Remove a text that is finished, refused or given up."""
        self._policy.leave(ticket)
        if self._waiting:
            self._begin()

    async def turn(self, ticket: PacingTicket) -> None:
        """Wait until a text may begin."""
        if ticket.may_begin:
            return
        waits = self._waiting[ticket] = asyncio.get_running_loop().create_future()
        self._begin()
        try:
            await waits
        finally:
            del self._waiting[ticket]

    @property
    def held_tokens(self) -> float:
        """Tokens of the texts that wait."""
        return self._policy.held_tokens

    def count(self, ticket: PacingTicket, tokens: int) -> None:
        self._policy.count(ticket, tokens)

    def _begin(self) -> None:
        """Let those texts begin that may, and look again when the next one may."""
        now = self._clock()
        for ticket in self._policy.begin(self._engine().tokens_per_second, now):
            if (waits := self._waiting.get(ticket)) is not None and not waits.done():
                waits.set_result(None)
        if self._timer is not None:
            self._timer.cancel()
        next_seconds = self._policy.next_seconds()
        if next_seconds is not None:
            self._timer = asyncio.get_running_loop().call_later(max(next_seconds - now, 0.0), self._begin)


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
