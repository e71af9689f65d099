"""The one client of all contestants: a number of documents as fast as they are answered, or at a given rate.

It is made of the load test's own parts, which cost little, as it shares the cores with what it measures.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from random import Random
from typing import Any

import numpy as np
import uvloop

from loadtest.arrivals.processes import poisson
from loadtest.arrivals.rates import Constant
from loadtest.client.connection import Reply
from loadtest.client.open_loop import Sender
from loadtest.client.pool import Pool
from loadtest.client.target import Target, read_target, request_bytes
from loadtest.records.records import Recorder, Records
from loadtest.workload.jobs import Job

Entities = list[dict[str, Any]]
CONNECTIONS = 10_000
TIMEOUT_SECONDS = 60.0
LEAD_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class ThroughputRun:
    """What a number of documents took, answered so many times over, and the entities of each."""

    seconds: float
    entities: list[Entities]
    times_over: int = 1

    @property
    def per_second(self) -> float:
        return self.times_over * len(self.entities) / self.seconds

    def __add__(self, later: ThroughputRun) -> ThroughputRun:
        """Two runs over the same documents as one."""
        return ThroughputRun(self.seconds + later.seconds, self.entities, self.times_over + later.times_over)


@dataclass(frozen=True, slots=True)
class LatencyFigures:
    """How an offered rate was borne. `sustained`: answers per second while requests came. Milliseconds from the moment
    at which each request was due; an unanswered one counts as the time-out."""

    offered: float
    sustained: float
    requests: int
    p50_ms: float
    p99_ms: float
    unanswered: int
    lag_p99_ms: float


def answer_all(
    url: str, texts: list[str], *, at_once: int, of_a_request: int = 1, times_over: int = 1
) -> ThroughputRun:
    """All texts, so many times over without a pause, with so many requests under way.

    Raises:
        RuntimeError: a request failed.
    """
    target = read_target(url)
    groups = [texts[begin : begin + of_a_request] for begin in range(0, len(texts), of_a_request)]
    requests = [_request(target, group) for group in groups]
    begun = time.perf_counter()
    replies = uvloop.run(_in_turn(target, requests * times_over, at_once))
    seconds = time.perf_counter() - begun
    return ThroughputRun(seconds, list(chain.from_iterable(map(_entities, replies[: len(requests)]))), times_over)


def answer_at(url: str, texts: list[str], rate: float, seconds: float, seed: int = 1) -> LatencyFigures:
    """One text a request, Poisson arrivals at this rate, whatever becomes of the answers."""
    target = read_target(url)
    requests = [_request(target, [text]) for text in texts]
    return measured(uvloop.run(_on_schedule(target, requests, rate, seconds, seed)), rate, seconds)


def measured(records: Records, rate: float, seconds: float) -> LatencyFigures:
    """The figures of an open loop. Pure."""
    waited = np.where(records.ok, records.latency_ms, np.maximum(records.latency_ms, TIMEOUT_SECONDS * 1000))
    p50, p99 = np.quantile(waited, (0.5, 0.99))
    in_time = int((records.ok & (records.done < seconds)).sum())
    lag = float(np.quantile(records.lag_ms, 0.99))
    unanswered = int((~records.ok).sum())
    return LatencyFigures(rate, in_time / seconds, len(records), float(p50), float(p99), unanswered, lag)


async def _in_turn(target: Target, requests: list[bytes], at_once: int) -> list[Reply]:
    pool = Pool(target, CONNECTIONS)
    places = asyncio.Semaphore(at_once)

    async def one(request: bytes) -> Reply:
        async with places:
            ended: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
            pool.send(request, ended.set_result)
            return await ended

    replies = await asyncio.gather(*map(one, requests))
    pool.close()
    return replies


async def _on_schedule(target: Target, requests: list[bytes], rate: float, seconds: float, seed: int) -> Records:
    pool = Pool(target, CONNECTIONS)
    origin = time.monotonic() + LEAD_SECONDS
    recorder = Recorder(origin)
    await Sender(pool, requests, recorder, TIMEOUT_SECONDS).on_schedule(_due(origin, rate, seconds, seed))
    pool.close()
    return recorder.records()


def _due(origin: float, rate: float, seconds: float, seed: int) -> Iterator[tuple[float, int]]:
    for number, moment in enumerate(poisson(Constant(rate, seconds), Random(seed))):
        yield origin + moment, number


def _request(target: Target, texts: list[str]) -> bytes:
    body = {"text": texts[0]} if len(texts) == 1 else {"documents": [{"text": text} for text in texts]}
    return request_bytes(
        target, Job("text", json.dumps({**body, "aggregation": "simple"}).encode(), "application/json")
    )


def _entities(reply: Reply) -> list[Entities]:
    if reply.status != 200:
        raise RuntimeError(f"a request failed: {reply.status} {reply.failure} {reply.body[:300]!r}")
    return [document["entities"] for document in json.loads(reply.body)["documents"]]
