"""Faults of clients: they hang up, dawdle, or come all at once."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from random import Random
from urllib.parse import urlsplit

from loadtest.chaos.fault import ChaosFault
from loadtest.chaos.subject import Subject
from loadtest.client.http import HttpClient
from loadtest.workload.mix import Job

HANG_UPS = 40
SILENT = 200
SILENT_SECONDS = 3.0
CROWD = 300
CROWD_SECONDS = 60.0


async def _hang_up(subject: Subject, draw: Random) -> None:
    """Half of them before their body is whole, half while they wait for the answer."""
    await asyncio.gather(*(_leave(subject, draw.choice(subject.questions), draw) for _ in range(HANG_UPS)))


async def _leave(subject: Subject, job: Job, draw: Random) -> None:
    with suppress(OSError):
        _, sink = await _connect(subject)
        sent = len(job.body) if draw.random() < 0.5 else len(job.body) // 2
        sink.write(_head(job) + job.body[:sent])
        await sink.drain()
        await asyncio.sleep(draw.uniform(0.0, 0.2))
        sink.transport.abort()


async def _silence(subject: Subject, _draw: Random) -> None:
    """Connections that send half of a request's head and no more."""
    opened = await asyncio.gather(*(_connect(subject) for _ in range(SILENT)), return_exceptions=True)
    sinks = [each[1] for each in opened if not isinstance(each, BaseException)]
    for sink in sinks:
        sink.write(b"POST /extract HTTP/1.1\r\nHost: a")
    await asyncio.sleep(SILENT_SECONDS)
    for sink in sinks:
        sink.transport.abort()


async def _crowd(subject: Subject, draw: Random) -> None:
    """Requests beyond any capacity, at one moment."""
    async with HttpClient(subject.service.url, most=CROWD, timeout_seconds=CROWD_SECONDS) as client:
        await asyncio.gather(*(client.post(draw.choice(subject.questions)) for _ in range(CROWD)))


async def _connect(subject: Subject) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    address = urlsplit(subject.service.url)
    return await asyncio.open_connection(address.hostname, address.port)


def _head(job: Job) -> bytes:
    headers = {"Host": "a", "Content-Type": job.content_type, "Content-Length": str(len(job.body)), **dict(job.headers)}
    return "\r\n".join(
        ["POST /extract HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    ).encode()


CLIENT_FAULTS = (
    ChaosFault("40 clients hang up", _hang_up),
    ChaosFault("200 half-open requests", _silence),
    ChaosFault("300 requests at once", _crowd),
)
