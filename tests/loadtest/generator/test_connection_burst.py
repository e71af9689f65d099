"""Crowds of connections: every ending is counted, and one without a typed answer fails the run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

import pytest

from loadtest.errors import LoadtestError
from loadtest.generator.connection_burst import BurstOutcome, ask_at_once, hold_slowly
from tests.support.socket_server import Answer, read_request, serving

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
