"""Heads of requests: their size is bounded before anybody is asked for a key, and what is no valid HTTP is refused."""

from __future__ import annotations

import asyncio
import time

import pytest

from service.api.connection.connections import StartLimiter
from tests.support.bounded_server import World, played

MIB = 1 << 20
GET = "GET /livez HTTP/1.1\r\nHost: a\r\n"


def posted(body: bytes, path: str = "/extract") -> bytes:
    """A request with this body."""
    return b"POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % (path.encode(), len(body)) + body


@played(linger_seconds=0.2)
async def test_a_head_without_end_is_refused_after_its_limit(world: World) -> None:
    """It grew the worker by 180 MB in nine seconds, until the kernel killed it."""

    for begin, piece in ((GET, b"a: b\r\n" * 4_096), (GET + "X: ", b"x" * 65_536), ("GET /", b"y" * 65_536)):
        caller = await world.caller()
        caller.send(begin.encode())
        taken = await caller.pour(piece, 64 * MIB)
        assert taken < 16 * MIB, "what the kernels buffer at most"
        assert world.scopes == []


@pytest.mark.parametrize(
    ("head", "status", "code"),
    [
        (GET + "a: b\r\n" * 100 + "\r\n", 431, "headers_too_large"),
        (GET + f"a: {'b' * 70_000}\r\n\r\n", 431, "headers_too_large"),
        (f"GET /{'a' * 17_000} HTTP/1.1\r\nHost: a\r\n\r\n", 414, "target_too_long"),
        ("GET /livez HTTP/1.1\r\n\r\n", 400, "malformed_request"),
        (GET + "Host: b\r\n\r\n", 400, "malformed_request"),
        (GET + "Transfer-Encoding: gzip, chunked\r\n\r\n", 400, "malformed_request"),
        (GET + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "malformed_request"),
        ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "malformed_request"),
        ("CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 400, "malformed_request"),
        ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 400, "malformed_request"),
        ("GET /\x80 HTTP/1.1\r\nHost: a\r\n\r\n", 400, "malformed_request"),
        ("NONSENSE\r\n\r\n", 400, "malformed_request"),
        (GET + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, "malformed_request"),
        (GET + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "malformed_request"),
        (GET + f"Content-Length: {'0' * 5_000}1\r\n\r\n", 400, "malformed_request"),
    ],
)
@played()
async def test_each_bad_head_has_a_problem_document_and_ends_the_connection(
    world: World, head: str, status: int, code: str
) -> None:
    caller = await world.caller()
    caller.send(head.encode("latin-1"))
    reply = await caller.reply()
    assert (reply.status, reply.code) == (status, code)
    assert reply.headers["connection"] == "close"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert "server" not in reply.headers
    assert await caller.rest() == b""
    assert world.scopes == []


@played()
async def test_honest_heads_pass_up_to_the_limits(world: World) -> None:
    body = b"x" * 200_000
    head = f"POST /extract HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n"
    assert (await world.ask(head, body)).body == b"200000"
    assert (await world.ask(GET + "a: b\r\n" * 98 + "\r\n")).status == 200
    assert (await world.ask(GET + f"Cookie: {'b' * 60_000}\r\n\r\n")).status == 200
    assert (await world.ask(f"GET /?{'a' * 16_000} HTTP/1.1\r\nHost: a\r\n\r\n")).status == 200
    assert (await world.ask("GET /livez HTTP/1.0\r\n\r\n")).status == 200


@played(body_bytes=4999)
async def test_what_is_too_long_is_refused_unread_and_without_a_continue(world: World) -> None:
    caller = await world.caller()
    caller.send(b"POST /extract HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\nExpect: 100-continue\r\n\r\n")
    answer = await caller.rest()
    assert answer.startswith(b"HTTP/1.1 413 "), answer
    assert b"100 Continue" not in answer
    assert world.scopes == []
    caller.close()


@played(body_bytes=MIB)
async def test_a_client_that_sends_on_still_reads_its_refusal(world: World) -> None:
    """A close with unread bytes would reset the connection, and destroy the answer on its way."""

    caller = await world.caller()
    body = bytes(4 * MIB)
    caller.send(b"POST /extract HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(body))
    await caller.writer.drain()
    caller.send(body)
    await caller.writer.drain()
    reply = await caller.reply()
    assert (reply.status, reply.code) == (413, "document_too_large")


@played()
async def test_nothing_that_follows_a_refusal_is_answered(world: World) -> None:
    """What followed was refused as well, which was an error: the end of the connection had been sent."""

    errors: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: errors.append(context))
    caller = await world.caller()
    head = b"POST /extract?deadline_ms=50 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    caller.send(head + b"no size\r\n")
    time.sleep(0.2)
    assert (await caller.reply()).code == "deadline_exceeded"
    assert await caller.rest() == b""
    assert errors == []


@played(linger_seconds=0.2)
async def test_trailers_are_bounded_and_are_no_headers(world: World) -> None:
    head = b"POST /extract HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    caller = await world.caller()
    caller.send(head + b"3\r\nabc\r\n0\r\nX-API-Key: late\r\n\r\n")
    assert (await caller.reply()).body == b"3"
    assert b"x-api-key" not in dict(world.scopes[0]["headers"])
    caller.send(head + b"3\r\nabc\r\n0\r\nX: ")
    assert await caller.pour(b"x" * 65_536, 64 * MIB) < 16 * MIB
    many = await world.caller()
    many.send(head + b"3\r\nabc\r\n0\r\n")
    assert await many.pour(b"a: b\r\n" * 4_096, 64 * MIB) < 16 * MIB


@played()
async def test_a_body_in_chunks_of_one_byte_is_read(world: World) -> None:
    caller = await world.caller()
    caller.send(b"POST /extract HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(40):
        caller.send(b"1\r\nx\r\n" * 1_000)
        await caller.writer.drain()
    caller.send(b"0\r\n\r\n")
    assert (await caller.reply()).body == b"40000"


@played()
async def test_each_request_of_a_connection_has_its_own_state_and_arrival(world: World) -> None:
    caller = await world.caller()
    for number in range(2):
        caller.send(GET.encode() + b"\r\n")
        await caller.reply()
        world.scopes[number]["state"]["mine"] = number
        await asyncio.sleep(0.05)  # The kernel says in its ticks, of up to 10 ms, when data came.
    first, second = (scope["state"] for scope in world.scopes)
    assert first is not second
    assert first["mine"] == 0
    assert first["arrived_seconds"] < second["arrived_seconds"]


@played()
async def test_a_pipelined_request_is_not_begun(world: World) -> None:
    caller = await world.caller()
    caller.send((GET + "\r\n").encode() + posted(b"x" * 1_000))
    assert (await caller.reply()).status == 200
    assert await caller.rest() == b""
    assert [scope["method"] for scope in world.scopes] == ["GET"]


@played(linger_seconds=0.1)
async def test_of_pipelined_requests_the_first_is_answered_and_then_closed(world: World) -> None:
    flood = await world.caller()
    flood.send(posted(b"ab", "/hold") + posted(b"c") * 2_000)
    await world.until(lambda: len(world.scopes) == 1)
    await asyncio.sleep(0.2)
    world.held.set()
    answered = await flood.reply()
    assert (answered.status, answered.body, answered.headers["connection"]) == (200, b"2", "close")
    assert await flood.rest() == b""
    assert len(world.scopes) == 1


@played()
async def test_an_error_in_a_pipelined_request_is_not_the_answer_before_it(world: World) -> None:
    caller = await world.caller()
    caller.send(posted(b"ab", "/hold"))
    await world.until(lambda: len(world.scopes) == 1)
    caller.send(b"POST /hold HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    await asyncio.sleep(0.05)
    caller.send(b"1;" + b"x" * 70 * 1024 + b"\r\na\r\n")
    await asyncio.sleep(0.05)
    assert world.disconnects == 0
    world.held.set()
    assert (await caller.reply()).body == b"2"
    assert await caller.rest() == b""


@played(linger_seconds=0.1)
async def test_an_error_after_a_good_request_leaves_its_answer_alone(world: World) -> None:
    good = b"GET /hold HTTP/1.1\r\nHost: a\r\n\r\n"
    callers = [await world.caller() for _ in range(2)]
    for caller, bad in zip(callers, (b"NONSENSE\r\n\r\n", b"GET / HTTP/1.1\r\nX: " + b"x" * 200_000), strict=True):
        caller.send(good + bad)
    await asyncio.sleep(0.5)
    world.held.set()
    for caller in callers:
        assert (await caller.reply()).status == 200
        assert await caller.rest() == b""


@pytest.mark.parametrize(
    "target",
    [
        "http://a:b/",
        "http://:80/",
        "http://@/",
        "http://_/",
        "http://a:99999/",
        "http://a?b",
        "http://a",
        "//\x80",
        "*",
    ],
)
@played()
async def test_a_bad_target_is_refused_and_holds_no_admission(world: World, target: str) -> None:
    """Admitted before it was parsed, each counted as in flight for good, and an idle service refused its clients."""

    for _ in range(3):
        caller = await world.caller()
        caller.send(f"POST {target} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n".encode("latin-1"))
        assert (await caller.reply()).code == "malformed_request"
    assert (world.connections.overload.in_flight, world.scopes) == (0, [])
    assert (
        await world.ask("POST http://[::1]:80/a%ffb?c HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 0\r\n\r\n")
    ).status == 200


@played()
async def test_an_absolute_target_is_of_the_host_that_the_head_names(world: World) -> None:
    """By its name a service without keys knows its own machine's requests."""
    for target in (
        "http://evil.example/a",
        "http://A.example:80/a",
        "http://a.example@evil/a",
        "http:///a",
        "https://b?c",
    ):
        caller = await world.caller()
        caller.send(f"POST {target} HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0\r\n\r\n".encode())
        assert (await caller.reply()).code == "malformed_request"
    same = await world.ask("POST http://A.example/a HTTP/1.1\r\nHost: a.Example\r\nContent-Length: 0\r\n\r\n")
    assert same.status == 200


def _no_phase() -> bool:
    raise RuntimeError("the engine's status cannot be read")


@played()
async def test_whatever_fails_after_admission_gives_it_back(world: World) -> None:
    world.connections.starts, kept = StartLimiter(_no_phase), world.connections.starts
    for body in (b"", b"x" * 100_000):
        reply = await world.ask(f"POST /extract HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n", body)
        assert (reply.status, reply.code) == (500, "internal_error")
    world.connections.starts = kept
    assert (world.connections.overload.in_flight, world.connections.budget.held_bytes) == (0, 0)
    caller = await world.caller()
    caller.send(posted(b"ab"))
    assert (await caller.reply()).body == b"2"
