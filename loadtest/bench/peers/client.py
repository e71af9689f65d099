"""The client of all contestants: documents as fast as they are answered, or at a given rate.

It is made of the load test's own parts, since its cost matters: it shares the cores with what it measures.
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

from loadtest.generator.generator_process import Sender
from loadtest.generator.http_client import HttpClient
from loadtest.generator.records import Recorder, Records, Reply
from loadtest.scenario.arrivals import Constant, poisson
from loadtest.scenario.workload import Job

Entities = list[dict[str, Any]]
CONNECTIONS = 10_000
TIMEOUT_SECONDS = 60.0
FULL_LOAD_TIMEOUT_SECONDS = 600.0
LEAD_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class ThroughputRun:
    """Documents answered at full load: the seconds for all rounds over them, and the entities of each document."""

    seconds: float
    entities: list[Entities]
    rounds: int = 1

    @property
    def per_second(self) -> float:
        return self.rounds * len(self.entities) / self.seconds

    def __add__(self, later: ThroughputRun) -> ThroughputRun:
        """Two runs over the same documents as one."""
        return ThroughputRun(self.seconds + later.seconds, self.entities, self.rounds + later.rounds)


@dataclass(frozen=True, slots=True)
class LatencyFigures:
    """Latencies at an offered rate, in milliseconds from the moment at which each request was due.

    `sustained`: answers per second while requests came. An unanswered request counts with the timeout.
    """

    offered: float
    sustained: float
    requests: int
    p50_ms: float
    p99_ms: float
    unanswered: int
    lag_p99_ms: float


def answer_all(url: str, texts: list[str], *, at_once: int, per_request: int = 1, rounds: int = 1) -> ThroughputRun:
    """Post all texts, `rounds` times without a pause, with `at_once` requests under way.

    Raises:
        RuntimeError: a request failed.
    """
    groups = [texts[begin : begin + per_request] for begin in range(0, len(texts), per_request)]
    jobs = [_job(group) for group in groups]
    began = time.perf_counter()
    replies = uvloop.run(_closed_loop(url, jobs * rounds, at_once))
    seconds = time.perf_counter() - began
    return ThroughputRun(seconds, list(chain.from_iterable(map(_entities, replies[: len(jobs)]))), rounds)


def answer_at(url: str, texts: list[str], rate: float, seconds: float) -> LatencyFigures:
    """Post one text per request with Poisson arrivals at this rate: an open loop."""
    jobs = [_job([text]) for text in texts]
    return latency_figures(uvloop.run(_open_loop(url, jobs, rate, seconds)), rate, seconds)


def latency_figures(records: Records, rate: float, seconds: float) -> LatencyFigures:
    """The figures of an open loop. Pure."""
    waited = np.where(records.ok, records.latency_ms, np.maximum(records.latency_ms, TIMEOUT_SECONDS * 1000))
    p50, p99 = np.quantile(waited, (0.5, 0.99))
    in_time = int((records.ok & (records.done < seconds)).sum())
    lag = float(np.quantile(records.lag_ms, 0.99))
    unanswered = int((~records.ok).sum())
    return LatencyFigures(rate, in_time / seconds, len(records), float(p50), float(p99), unanswered, lag)


async def _closed_loop(url: str, jobs: list[Job], at_once: int) -> list[Reply]:
    places = asyncio.Semaphore(at_once)
    async with HttpClient(url, most=CONNECTIONS, timeout_seconds=FULL_LOAD_TIMEOUT_SECONDS) as client:

        async def post(job: Job) -> Reply:
            async with places:
                return await client.post(job)

        return await asyncio.gather(*map(post, jobs))


async def _open_loop(url: str, jobs: list[Job], rate: float, seconds: float) -> Records:
    origin = time.monotonic() + LEAD_SECONDS
    recorder = Recorder(origin)
    async with HttpClient(url, most=CONNECTIONS, timeout_seconds=TIMEOUT_SECONDS) as client:
        await Sender(client, jobs, recorder).on_schedule(_due(origin, rate, seconds))
    return recorder.records()


def _due(origin: float, rate: float, seconds: float) -> Iterator[tuple[float, int]]:
    for number, moment in enumerate(poisson(Constant(rate, seconds), Random(1))):
        yield origin + moment, number


def _job(texts: list[str]) -> Job:
    body = {"text": texts[0]} if len(texts) == 1 else {"documents": [{"text": text} for text in texts]}
    return Job("text", json.dumps({**body, "aggregation": "simple"}).encode(), "application/json")


def _entities(reply: Reply) -> list[Entities]:
    if reply.status != 200:
        raise RuntimeError(f"a request failed: {reply.status} {reply.failure} {reply.body[:300]!r}")
    return [document["entities"] for document in json.loads(reply.body)["documents"]]


@dataclass(frozen=True, slots=True)
class PeerResult:
    """A peer at its best set-up, and the runs of ours between its two runs, by name.

    `served`: over HTTP.
    """

    name: str
    setup: str
    served: bool
    run: ThroughputRun
    ours: dict[str, ThroughputRun]

    def ratio(self, name: str) -> float:
        """The rate of our variant of this name over the peer's."""
        return self.ours[name].per_second / self.run.per_second


@dataclass(frozen=True, slots=True)
class LatencyRun:
    """One software at one offered rate; `share`: which part of whose capacity that rate is."""

    name: str
    share: str
    figures: LatencyFigures


@dataclass(frozen=True, slots=True)
class ContestResult:
    """The result of one contest. The first peer, the pipeline in float32, is the reference for the entities.

    `grouped`: ours with several documents per request, by name. `latencies`: ours and the best server at a share of our
    capacity, then both at the same share of that server's.
    """

    model: str
    peers: tuple[PeerResult, ...]
    grouped: dict[str, ThroughputRun]
    latencies: tuple[LatencyRun, ...] = ()

    @property
    def best_server(self) -> PeerResult:
        """The fastest peer over HTTP: only those have a latency to compare."""
        return max((peer for peer in self.peers if peer.served), key=lambda peer: peer.run.per_second)

    @property
    def reference(self) -> list[Entities]:
        return self.peers[0].run.entities

    def ours(self, name: str) -> ThroughputRun:
        """The median of our runs of this name, by rate."""
        runs = sorted((peer.ours[name] for peer in self.peers), key=lambda run: run.per_second)
        return runs[(len(runs) - 1) // 2]
