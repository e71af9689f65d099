"""The HTTP client against real sockets, on the loop of a generator process: connections and requests."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest
import uvloop

from loadtest.errors import BadInput
from loadtest.generator.http_client import HttpClient, service_url
from loadtest.generator.records import Reply
from loadtest.scenario.workload import Job
from loadtest.service_process import KeptPort
from tests.support.socket_server import read_request, serving

JOB = Job("text", b'{"text": "a"}', "application/json")
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
GOOD = Reply(200, "", b"{}")

pytestmark = pytest.mark.usefixtures("runner")


@pytest.fixture
def runner() -> Any:
    """The event loop of a generator process."""
    return uvloop.run


def client_of(url: str, *, most: int = 10, timeout_seconds: float = 20.0) -> HttpClient:
    return HttpClient(url, most=most, timeout_seconds=timeout_seconds)


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("localhost:9000/", "http://localhost:9000"),
        ("https://example.org/api/", "https://example.org/api"),
    ],
)
def test_a_url_may_lack_its_scheme_and_end_in_a_slash(url: str, base: str) -> None:
    assert service_url(url) == base


@pytest.mark.parametrize("url", ["ftp://x", "http://", "http:///x", "http://x:port"])
def test_what_is_no_url_is_bad_input(url: str) -> None:
    with pytest.raises(BadInput):
        service_url(url)


async def test_a_request_has_its_query_headers_and_body_and_no_more() -> None:
    job = Job("text", b'{"text": "a"}', "application/json", (("model", "a@b c"),), (("Authorization", "Bearer k"),))
    came: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append(await read_request(reader))
        writer.write(OK)

    async with serving(answer) as (url, _), client_of(url + "/api") as client:
        assert await client.post(job) == GOOD
    head, body = came[0].split(b"\r\n\r\n")
    line, *fields = head.decode().split("\r\n")
    assert line == "POST /api/extract?model=a%40b%20c HTTP/1.1"
    assert {name.lower(): value for name, value in (field.split(": ") for field in fields)} == {
        "host": url.removeprefix("http://"),
        "content-type": "application/json",
        "content-length": "13",
        "authorization": "Bearer k",
    }
    assert body == b'{"text": "a"}'


@pytest.mark.parametrize(("header", "connections"), [(b"", 1), (b"Connection: close\r\n", 3)])
async def test_a_connection_is_used_for_as_long_as_the_server_keeps_it(header: bytes, connections: int) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await read_request(reader)
            writer.write(OK.replace(b"Content", header + b"Content"))

    async with serving(answer) as (url, server), client_of(url) as client:
        assert [await client.post(JOB) for _ in range(3)] == [GOOD] * 3
        assert len(server.connections) == connections


async def test_a_request_on_a_connection_that_the_server_closes_is_sent_again() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(OK)
        await read_request(reader)  # The second request is read, and the connection closed without an answer.

    async with serving(answer) as (url, server), client_of(url) as client:
        assert (await client.post(JOB), await client.post(JOB)) == (GOOD, GOOD)
        assert (len(server.connections), client.resent) == (2, 1)


async def test_no_request_waits_for_another_and_the_limit_is_a_failure() -> None:
    release, waiting = asyncio.Event(), asyncio.Semaphore(0)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        waiting.release()
        await release.wait()
        writer.write(OK)
        await writer.drain()

    async with serving(answer) as (url, _), client_of(url, most=3) as client:
        requests = [asyncio.create_task(client.post(JOB)) for _ in range(3)]
        for _ in requests:
            await waiting.acquire()
        assert await client.post(JOB) == Reply(0, "", b"", "no_connection_left")
        release.set()
        assert await asyncio.gather(*requests) == [GOOD] * 3
    assert (client.most_under_way, client.under_way, client.exhausted) == (3, 0, 1)


async def test_a_redirect_is_for_new_requests_and_open_ones_end_where_they_began() -> None:
    release, came = asyncio.Event(), asyncio.Event()

    async def first(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        came.set()
        await release.wait()
        writer.write(OK)
        await writer.drain()

    async def second(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(OK.replace(b"{}", b"[]"))
        await writer.drain()

    async with serving(first) as (url, _), serving(second) as (other, _), client_of(url) as client:
        opened = asyncio.create_task(client.post(JOB))
        await came.wait()
        client.redirect(other)
        assert await client.post(JOB) == Reply(200, "", b"[]")
        release.set()
        assert await opened == GOOD


async def test_a_timeout_closes_its_own_connection_and_no_other() -> None:
    closed = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            if b"slow" in await read_request(reader):
                assert await reader.read() == b""
                closed.set()
                return
            writer.write(OK)

    async with serving(answer) as (url, server), client_of(url, timeout_seconds=3.0) as client:
        assert await client.post(JOB) == GOOD
        slow, meanwhile = await asyncio.gather(client.post(Job("t", b"slow", "text/plain")), client.post(JOB))
        assert (slow, meanwhile) == (Reply(0, "", b"", "timeout"), GOOD)
        await asyncio.wait_for(closed.wait(), 60)
        assert len(server.connections) == 2


FAILURES: dict[str, tuple[bytes, str]] = {
    "closed without an answer": (b"", "connection_lost"),
    "closed in the head": (b"HTTP/1.1 200 OK\r\nContent-Le", "connection_lost"),
    "closed in the body": (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "connection_lost"),
    "closed in a chunk": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{}", "connection_lost"),
    "no HTTP": (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "bad_http"),
    "a bad chunk": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n{}\r\n", "bad_http"),
}


@pytest.mark.parametrize(("sent", "code"), FAILURES.values(), ids=FAILURES)
async def test_an_answer_that_breaks_off_or_is_no_http_has_its_code(sent: bytes, code: str) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(sent)
        await writer.drain()

    async with serving(answer) as (url, _), client_of(url) as client:
        reply = await client.post(JOB)
    assert (reply.status, reply.failure.partition(" ")[0]) == (0, code)


@pytest.mark.parametrize(
    ("host", "code"),
    [("127.0.0.1", "connection_refused"), ("localhost", "connection_refused"), ("x.invalid", "connect_failed")],
)
async def test_a_connection_that_cannot_be_opened_has_its_code(host: str, code: str) -> None:
    port = KeptPort()
    async with client_of(f"http://{host}:{port.number}") as client:
        assert (await client.post(JOB)).failure == code


async def test_a_connection_that_is_not_accepted_in_time_has_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loadtest.generator.http_client.CONNECT_SECONDS", 0.2)
    with socket.socket() as listener, socket.socket() as filler:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)  # One connection fills the backlog; the kernel drops the handshake of the next one.
        filler.connect(listener.getsockname())
        async with client_of(f"http://127.0.0.1:{listener.getsockname()[1]}") as client:
            assert (await client.post(JOB)).failure == "connect_timeout"
