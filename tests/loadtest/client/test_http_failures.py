"""The HTTP client's failures, each with its code, against real sockets on the loop of a generator process."""

from __future__ import annotations

import asyncio
import socket
import struct

import pytest
import uvloop

from loadtest.client.http import HttpClient
from loadtest.records.answer import Reply
from loadtest.service_process.ports import KeptPort
from loadtest.workload.mix import Job
from tests.support.socket_server import read_request, serving

JOB = Job("text", b'{"text": "a"}', "application/json")


def client_of(url: str) -> HttpClient:
    return HttpClient(url, most=10, timeout_seconds=20.0)


FAILURES: dict[str, tuple[bytes, str]] = {
    "closed without an answer": (b"", "connection_lost"),
    "closed in the head": (b"HTTP/1.1 200 OK\r\nContent-Le", "connection_lost"),
    "closed in the body": (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "connection_lost"),
    "closed in a chunk": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{}", "connection_lost"),
    "no HTTP": (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "bad_http"),
    "a bad chunk": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n{}\r\n", "bad_http"),
}


@pytest.mark.parametrize(("sent", "code"), FAILURES.values(), ids=FAILURES)
def test_an_answer_that_breaks_off_or_is_no_http_has_its_code(sent: bytes, code: str) -> None:
    async def run() -> Reply:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await read_request(reader)
            writer.write(sent)
            await writer.drain()

        async with serving(answer) as (url, _), client_of(url) as client:
            return await client.post(JOB)

    reply = uvloop.run(run())
    assert (reply.status, reply.failure.partition(" ")[0]) == (0, code)


def test_a_reset_connection_is_lost() -> None:
    async def run() -> Reply:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await read_request(reader)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}")
            await writer.drain()
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

        async with serving(answer) as (url, _), client_of(url) as client:
            return await client.post(JOB)

    assert uvloop.run(run()).failure == "connection_lost"


@pytest.mark.parametrize(
    ("host", "code"),
    [("127.0.0.1", "connection_refused"), ("localhost", "connection_refused"), ("x.invalid", "connect_failed")],
)
def test_a_connection_that_cannot_be_opened_has_its_code(host: str, code: str) -> None:
    async def run(port: KeptPort) -> Reply:
        async with client_of(f"http://{host}:{port.number}") as client:
            return await client.post(JOB)

    assert uvloop.run(run(KeptPort())).failure == code


def test_a_connection_that_is_not_accepted_in_time_has_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loadtest.client.http.CONNECT_SECONDS", 0.2)

    async def run() -> Reply:
        with socket.socket() as listener, socket.socket() as filler:
            listener.bind(("127.0.0.1", 0))
            listener.listen(0)  # One connection fills the backlog; the kernel drops the handshake of the next one.
            filler.connect(listener.getsockname())
            async with client_of(f"http://127.0.0.1:{listener.getsockname()[1]}") as client:
                return await client.post(JOB)

    assert uvloop.run(run()).failure == "connect_timeout"
