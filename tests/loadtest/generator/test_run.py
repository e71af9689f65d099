"""Runs of the load test: generator processes against small servers, their health, bursts, and samples of metrics."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import TypeVar

import httpx
import numpy as np
import pytest

from loadtest.errors import LoadtestError
from loadtest.generator.connection_burst import BurstOutcome, ask_at_once, hold_slowly
from loadtest.generator.generator_pool import Endpoint, GeneratorPool, GeneratorRun, RunProgress
from loadtest.generator.records import Records
from loadtest.generator.run import GeneratorHealth, assess_generator
from loadtest.generator.sampler import (
    MetricsSample,
    parse_metrics,
    rates,
    take_sample,
)
from loadtest.scenario.scenario import Phase, Scenario, schedule
from loadtest.scenario.workload import Mix
from service.signals.points import total
from tests.support.load_records import records, row
from tests.support.local_http import Call, Reply, http_server
from tests.support.null_server import null_server
from tests.support.socket_server import Answer, read_request, serving

RATE, SECONDS, STALL_SECONDS = 50.0, 5.0, 2.0


def scenario(rate: float = RATE, seconds: float = SECONDS, arrivals: str = "even", timeout: float = 30.0) -> Scenario:
    phase = Phase("p", seconds=seconds, rate=rate)
    return Scenario("t", (phase,), "absolute", arrivals, timeout_seconds=timeout, mix=Mix(distinct=20))  # type: ignore[arg-type]


def run(url: str, what: Scenario, **options: float) -> GeneratorRun:
    with GeneratorPool(Endpoint(url), what, **options) as pool:  # type: ignore[arg-type]
        return pool.follow(lambda _: None)


def test_a_stall_counts_for_every_request_that_was_due_in_it() -> None:
    """Coordinated omission: 50 a second for 5 s, a stall of 2 s in the middle.

    A request due x seconds into the stall waits 2 - x. So of 250 requests 100 wait, evenly from 0 to 2 s, and the 99th
    percentile, between the 2nd and the 3rd longest wait, is 2 - 2.5 / 50 s, and more on a machine that stalls too. A
    closed loop of one client meets the stall once: its 90th percentile is that of the good times.
    """
    with null_server(2.0, STALL_SECONDS) as url:
        records = run(url, scenario()).records
    with null_server(1.0, STALL_SECONDS) as url:
        closed = run(url, scenario(), at_once=1, seconds=4.0).records
    assert len(records) == RATE * SECONDS
    assert records.ok.all()
    arithmetic = STALL_SECONDS - 0.01 * SECONDS
    assert np.quantile(records.latency_ms, 0.99) / 1000 > arithmetic - 0.15
    assert (records.latency_ms > 100).sum() > RATE * (STALL_SECONDS - 0.1) - 15
    assert np.quantile(records.latency_ms, 0.25) < 500, "three in five were not due in the stall"
    assert closed.latency_ms.max() > 1_500
    assert np.quantile(closed.latency_ms, 0.9) < 500


def test_several_processes_together_send_exactly_the_schedule() -> None:
    what = scenario(300, 3.0, "poisson")
    ticks: list[RunProgress] = []
    with null_server() as url, GeneratorPool(Endpoint(url), what, processes=2) as pool:
        found = pool.follow(ticks.append)
    assert len(found.stats) == 2
    assert found.records.ok.all()
    assert np.allclose(found.records.intended, list(schedule(what)), atol=1e-6)
    assert (found.records.lag_ms >= 0).all()
    assert ticks[-1].sent <= len(found.records)
    assert set(found.records.tokens.tolist()) == {160}


def test_refusals_errors_and_timeouts_are_told_apart() -> None:
    replies = iter(range(10_000))

    def reply(_: Call) -> Reply:
        refusal = Reply(b'{"code": "queue_full"}', 429, {"Retry-After": "3"})
        return (refusal, Reply(b"busy", 503), Reply(b"{}", 500), Reply(b"no json"))[next(replies) % 4]

    with http_server(reply) as url:
        records = run(url, scenario(40, 1.0)).records
    assert set(records.outcome.tolist()) == {"queue_full", "http_503", "http_500", "unreadable_answer"}
    assert (records.refused.sum(), records.failed.sum(), records.ok.sum()) == (20, 20, 0)
    assert records.typed[records.outcome == "queue_full"].all()
    assert not records.typed[records.outcome == "http_503"].any()
    assert set(records.retry_after[records.outcome == "queue_full"].tolist()) == {3.0}


def judged(found: Records, *, cpu: float = 0.3, exhausted: int = 0) -> GeneratorHealth:
    return assess_generator(found, processes=1, cpu_share=cpu, most_connections=5, exhausted=exhausted, resent=0)


def test_a_generator_that_kept_its_schedule_is_trusted() -> None:
    assert not judged(records(*(row(n, 100, lag_ms=1) for n in range(100)))).problems


def test_lag_counts_when_it_matters_beside_the_latency() -> None:
    assert judged(records(*(row(n, 100, lag_ms=30) for n in range(100)))).problems
    assert not judged(records(*(row(n, 1_000, lag_ms=30) for n in range(100)))).problems
    assert not judged(records(*(row(n, 20, lag_ms=15) for n in range(100)))).problems


def test_a_full_core_and_a_lack_of_connections_are_problems() -> None:
    fine = records(row(0, 10))
    assert "of a core" in judged(fine, cpu=0.95).problems[0]
    assert "connection" in judged(fine, exhausted=3).problems[0]


T = TypeVar("T")


def answer(status: int, body: bytes) -> Answer:
    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 %d x\r\nContent-Length: %d\r\n\r\n" % (status, len(body)) + body)
        await writer.drain()

    return reply


async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(10)


async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(-1)


def against(handler: Answer, work: Callable[[str], T]) -> T:
    """The result of work in a thread, beside a server that handles each connection so."""

    async def scene() -> T:
        async with serving(handler) as (url, _):
            return await asyncio.to_thread(work, url)

    return asyncio.run(scene())


@pytest.mark.parametrize(
    ("handler", "outcome"),
    [
        (answer(200, b"{}"), "ok"),
        (answer(503, b'{"code": "too_much_at_once"}'), "too_much_at_once"),
        (answer(503, b"Service Unavailable"), "untyped"),
        (hang_up, "unanswered"),
    ],
)
def test_every_ending_is_counted(handler: Answer, outcome: str) -> None:
    found = against(handler, lambda url: ask_at_once(url, 20))
    assert found.outcomes == {outcome: 20}
    assert f"20 {outcome}" in str(found)
    if outcome in ("untyped", "unanswered"):
        with pytest.raises(LoadtestError, match=outcome):
            found.check()
    else:
        BurstOutcome.check(found)


def test_slow_clients_notice_who_closes_them() -> None:
    assert against(hang_up, lambda url: hold_slowly(url, 8, 0.8)) >= 4
    assert against(say_nothing, lambda url: hold_slowly(url, 8, 0.8)) == 0


TEXT = """# HELP gleaner_refusals_total Refusals.
# TYPE gleaner_refusals_total counter
gleaner_refusals_total{code="queue_full"} 3.0
gleaner_refusals_total{code="deadline_exceeded",pid="7"} 2
gleaner_refusals_total{code="deadline_exceeded",pid="8"} 1.5e1 1700000000
gleaner_queue_documents 4.0
odd{label="a \\"quoted\\" one, with } and ,"} 1
"""


def test_series_are_summed_by_name() -> None:
    snapshot = parse_metrics(TEXT)
    assert snapshot is not None
    assert total(snapshot, "gleaner_queue_documents") == 4
    assert total(snapshot, "gleaner_refusals_total") == 20
    assert total(snapshot, "odd", label='a "quoted" one, with } and ,') == 1
    assert total(snapshot, "none") is None


def test_a_sample_has_values_by_short_name() -> None:
    with http_server(lambda _: Reply(TEXT.encode())) as url, httpx.Client() as client:
        found = take_sample(client, url, None, 2.0)
    assert found == MetricsSample(2.0, {"queue_documents": 4.0})


def test_where_nothing_responds_only_the_processes_are_sampled() -> None:
    with httpx.Client() as client:
        assert take_sample(client, "http://127.0.0.1:9", None, 1.0) == MetricsSample(1.0, {})
        values = take_sample(client, "http://127.0.0.1:9", os.getpid(), 1.0).values
    assert set(values) == {"memory_bytes", "open_files", "cpu_seconds", "processes"}
    assert values["memory_bytes"] > 1e6


def test_a_counter_that_fell_has_no_rate() -> None:
    samples = [MetricsSample(at, {"tokens": value}) for at, value in ((0, 0), (1, 10), (3, 50), (4, 5), (5, 6))]
    assert rates(samples, "tokens") == [(1, 10), (3, 20), (5, 1)]
    assert rates(samples, "batches") == []
