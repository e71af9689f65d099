"""The open loop and the closed one, on a client whose replies are made by the test."""

from __future__ import annotations

import asyncio
import time
from itertools import count
from typing import cast

import numpy as np
import pytest
import uvloop

from loadtest.generator.generator_process import Sender
from loadtest.generator.http_client import HttpClient
from loadtest.generator.records import Recorder, Records, Reply
from loadtest.scenario.workload import Job

JOBS = [Job(f"job {number}", b"{}", "application/json") for number in range(3)]


class SlowClient:
    """Answers after a number of seconds, and keeps the jobs that it was given and the most that were open at once."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.jobs: list[Job] = []
        self.open = self.most_open = 0

    async def post(self, job: Job) -> Reply:
        self.jobs.append(job)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        await asyncio.sleep(self._seconds)
        self.open -= 1
        return Reply(200, "", b"{}")


def sent(client: SlowClient, moments: list[float], *, block_seconds: float = 0.0) -> Records:
    """The records of requests due at these moments; the loop is blocked once at the start."""

    async def run() -> Records:
        origin = time.monotonic()
        recorder = Recorder(origin)
        if block_seconds:
            asyncio.get_running_loop().call_soon(time.sleep, block_seconds)
        sender = Sender(cast(HttpClient, client), JOBS, recorder)
        await sender.on_schedule((origin + moment, number) for number, moment in enumerate(moments))
        assert sender.under_way == 0
        return recorder.records()

    return uvloop.run(run())


def test_requests_leave_when_they_are_due_whatever_the_server_does() -> None:
    client = SlowClient(3.0)
    records = sent(client, [number * 0.02 for number in range(20)])
    assert len(records) == 20
    assert client.most_open == 20
    assert (records.lag_ms >= 0).all()
    assert np.median(records.lag_ms) < 2_500, "had each waited for the one before, this would be half a minute"
    assert (records.latency_ms >= 2_999).all()


def test_a_generator_that_was_held_up_sends_everything_and_records_its_lag() -> None:
    """All 30 requests were due in the 0.4 s that the process was blocked; their latency counts from then."""
    records = sent(SlowClient(0.0), [number * 0.01 for number in range(30)], block_seconds=0.4)
    assert len(records) == 30
    assert (records.lag_ms >= 395 - 10 * np.arange(30)).all()
    assert records.lag_ms[0] - records.lag_ms[29] == pytest.approx(290, abs=100)
    assert (records.latency_ms >= records.lag_ms).all()


def test_a_closed_loop_keeps_its_number_of_requests_open_until_the_end() -> None:
    async def run() -> tuple[SlowClient, Records]:
        client, origin = SlowClient(0.3), time.monotonic()
        recorder = Recorder(origin)
        await Sender(cast(HttpClient, client), JOBS, recorder).back_to_back(4, origin + 3.0, count())
        return client, recorder.records()

    client, records = uvloop.run(run())
    assert client.most_open == 4
    assert 4 * 2 <= len(records) <= 4 * 11
    assert records.intended.max() < 3.0
