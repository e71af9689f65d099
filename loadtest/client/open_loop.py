"""The open loop: each request leaves at its intended time, or as soon after it as this process can.

The rule: nothing that the server does delays the next request. What this process itself does late is its *lag*:
sent - intended, measured for each request and judged afterwards (`results/trust.py`).
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator

from loadtest.client.connection import Reply
from loadtest.client.pool import Errand, Pool
from loadtest.records.records import Recorder

SWEEP_SECONDS = 0.1
Due = tuple[float, int]
"""An intended time on the monotonic clock, and the number of the request that is due then."""


class Sender:
    """Sends prepared requests and records how each ended."""

    def __init__(self, pool: Pool, requests: list[bytes], recorder: Recorder, timeout_seconds: float) -> None:
        self._pool = pool
        self._requests = requests
        self._recorder = recorder
        self._timeout_seconds = timeout_seconds
        self._under_way: deque[tuple[float, Errand]] = deque()
        self.open = 0

    async def on_schedule(self, schedule: Iterator[Due]) -> None:
        """Send all, then wait for the last answer or its timeout."""
        sweeper = asyncio.create_task(self._sweep())
        for intended, number in schedule:
            while (wait := intended - time.monotonic()) > 0:  # A timer may ring up to a millisecond early.
                await asyncio.sleep(wait)
            self._send(intended, number)
        await self._settle()
        sweeper.cancel()

    async def back_to_back(self, at_once: int, until: float, numbers: Iterator[int]) -> None:
        """Keep so many under way until then: a closed loop, fit to find the capacity and nothing else."""
        sweeper = asyncio.create_task(self._sweep())
        await asyncio.gather(*(self._one_after_another(until, numbers) for _ in range(at_once)))
        sweeper.cancel()

    async def _one_after_another(self, until: float, numbers: Iterator[int]) -> None:
        while (now := time.monotonic()) < until:
            over = asyncio.Event()
            self._send(now, next(numbers), over.set)
            await over.wait()

    def _send(self, intended: float, number: int, then: Callable[[], None] | None = None) -> None:
        sent = time.monotonic()
        job = number % len(self._requests)

        def ended(reply: Reply) -> None:
            self.open -= 1
            self._recorder.note(job, intended, sent, time.monotonic(), reply)
            if then is not None:
                then()

        self.open += 1
        self._under_way.append((sent, self._pool.send(self._requests[job], ended)))

    async def _settle(self) -> None:
        while self.open:
            await asyncio.sleep(SWEEP_SECONDS / 10)

    async def _sweep(self) -> None:
        while True:
            limit = time.monotonic() - self._timeout_seconds
            while self._under_way and (self._under_way[0][1].over or self._under_way[0][0] < limit):
                self._under_way.popleft()[1].give_up()
            await asyncio.sleep(SWEEP_SECONDS)
