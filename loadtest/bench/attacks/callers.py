"""Callers that ask a target without a pause, whatever they are told, until the attack is over."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from loadtest.bench.attacks.target import Target
from loadtest.client.http import HttpClient
from loadtest.records.answer import read_answer
from loadtest.workload.mix import Job

TIMEOUT_SECONDS = 120.0
UNANSWERED = "unanswered when it was over"


async def ask_on(target: Target, make_job: Callable[[], Job], callers: int, end: float) -> None:
    """Let so many callers ask, each again as soon as it has its answer, and count the answers."""

    async def call(client: HttpClient) -> None:
        while time.monotonic() < end:
            job = make_job()
            target.answers[await ask(client, job)] += 1

    async with HttpClient(target.url, most=callers, timeout_seconds=TIMEOUT_SECONDS) as client:
        await until(end, target, *(call(client) for _ in range(callers)))


async def ask_at_a_rate(target: Target, job: Job, rate: float, most: int, end: float) -> None:
    """Send a request so many times a second, whether or not the ones before were answered."""

    async def send(client: HttpClient, due: float) -> None:
        await asyncio.sleep(due - time.monotonic())
        target.answers[await ask(client, job)] += 1

    begun = time.monotonic()
    async with HttpClient(target.url, most=most, timeout_seconds=TIMEOUT_SECONDS) as client:
        count = int((end - begun) * rate)
        await until(end, target, *(send(client, begun + number / rate) for number in range(count)))


async def ask(client: HttpClient, job: Job) -> str:
    """A request's answer in two words, its status and its code."""
    answer = read_answer(await client.post(job))
    return f"{answer.status} {answer.outcome}" if answer.status else answer.outcome


async def until(end: float, target: Target, *works: Awaitable[None]) -> None:
    """Do all of it at once; what goes on at the end is broken off, and counted as unanswered.

    Raises:
        Exception: of the first that failed.
    """
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        _, going_on = await asyncio.wait(tasks, timeout=max(0.0, end - time.monotonic()))
    finally:
        for task in tasks:
            task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    target.answers[UNANSWERED] += len(going_on)
    for result in results:
        if isinstance(result, Exception):
            raise result
