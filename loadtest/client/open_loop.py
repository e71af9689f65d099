"""The open loop: each request leaves at its intended time, or as soon after it as this process can send it.

Nothing that the server does delays the next request. The delay of this process itself is a request's *lag*: sent -
intended. It is recorded for each request and judged afterwards (`results/generator_health.py`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence

from loadtest.client.http import HttpClient
from loadtest.records.recorder import Recorder
from loadtest.workload.mix import Job

Due = tuple[float, int]
"""An intended time on the monotonic clock, and the number of the request that is due then."""


class Sender:
    """Sends jobs and records how each request ended. Request `n` sends job `n` modulo their number."""

    def __init__(self, client: HttpClient, jobs: Sequence[Job], recorder: Recorder) -> None:
        self._client = client
        self._jobs = jobs
        self._recorder = recorder
        self.under_way = 0

    async def on_schedule(self, schedule: Iterator[Due]) -> None:
        """Send every request when it is due, then wait for the last reply or its timeout."""
        async with asyncio.TaskGroup() as requests:
            for intended, number in schedule:
                await asyncio.sleep(
                    max(intended - time.monotonic(), 0.0)
                )  # Behind schedule, the one before leaves now.
                while (wait := intended - time.monotonic()) > 0:  # A timer may fire up to a millisecond early.
                    await asyncio.sleep(wait)
                requests.create_task(self._send(intended, number))

    async def back_to_back(self, at_once: int, until: float, numbers: Iterator[int]) -> None:
        """Keep `at_once` requests under way until this moment: a closed loop, only to measure the capacity."""
        async with asyncio.TaskGroup() as clients:
            for _ in range(at_once):
                clients.create_task(self._one_after_another(until, numbers))

    async def _one_after_another(self, until: float, numbers: Iterator[int]) -> None:
        while (now := time.monotonic()) < until:
            await self._send(now, next(numbers))

    async def _send(self, intended: float, number: int) -> None:
        sent, job = time.monotonic(), number % len(self._jobs)
        self.under_way += 1
        reply = await self._client.post(self._jobs[job])
        self.under_way -= 1
        self._recorder.note(job, intended, sent, time.monotonic(), reply)
