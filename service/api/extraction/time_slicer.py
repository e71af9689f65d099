"""Short pieces of work on the event loop: in the order in which they came, and never many before the loop goes on.

A short piece is done here sooner than a thread would have heard of it, but those of a batch would together stop the
loop. So a go ends after about a millisecond, and the next one begins when the loop has been around once: sockets,
timers and tasks that are ready come first. The rule: a piece whose caller is gone is passed over, and neither that nor
what a piece raises keeps the next one from its turn.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

GO_SECONDS = 0.001
"""A go ends with the piece that reaches this."""

Result = TypeVar("Result")


class TimeSlicer:
    """The pieces of work that wait for one event loop. `clock`: seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._waiting: deque[tuple[Callable[[], Any], asyncio.Future[Any]]] = deque()

    async def take(self, work: Callable[[], Result]) -> Result:
        """What the work returns or raises, when its turn has come."""
        loop = asyncio.get_running_loop()
        result: asyncio.Future[Result] = loop.create_future()
        if not self._waiting:
            loop.call_soon(self._go)
        self._waiting.append((work, result))
        return await result

    def _go(self) -> None:
        """Do what waits for a while. Another go is due exactly while something waits."""
        end = self._clock() + GO_SECONDS
        try:
            while self._waiting and self._clock() < end:
                _do(*self._waiting.popleft())
        finally:
            if self._waiting:
                asyncio.get_running_loop().call_soon(self._go)


def _do(work: Callable[[], Any], result: asyncio.Future[Any]) -> None:
    if result.cancelled():
        return
    try:
        result.set_result(work())
    except Exception as error:
        result.set_exception(error)
