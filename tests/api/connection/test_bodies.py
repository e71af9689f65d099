"""Bodies: what is no valid HTTP within them ends their request at once, and an upgrade that is offered takes none."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.bounded_server import World, played

CHUNKED = b"POST /%s HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
DECLARED = b"Content-Length: 3\r\n\r\nabc"
IN_CHUNKS = b"Transfer-Encoding: chunked\r\n\r\n2;x=y\r\nab\r\n1\r\nc\r\n0\r\nLate: 1\r\n\r\n"
GET = b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"


def offering(protocol: bytes, rest: bytes, line: bytes = b"POST /extract") -> bytes:
    """A request that offers another protocol."""
    return (
        line + b" HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: " + protocol + b"\r\n" + rest
    )


@pytest.mark.parametrize("before", [b"", b"3\r\nabc\r\n"])
@pytest.mark.parametrize(
    ("tail", "status"),
    [
        (b"zz\r\n", 400),
        (b"-1\r\n", 400),
        (b"F" * 17 + b"\r\n", 400),
        (b"3\nabc\n0\n\n", 400),
        (b"3\r\nabcdef", 400),
        (b"0\r\nno field\r\n\r\n", 400),
        (b"0\r\n" + b"a: b\r\n" * 200 + b"\r\n", 431),
        (b"1;" + b"x" * 70_000 + b"\r\na\r\n", 431),
    ],
)
@played(linger_seconds=0.2)
async def test_a_body_that_is_no_http_ends_its_request(world: World, before: bytes, tail: bytes, status: int) -> None:
    """Its connection stayed open without an answer, for as long as its client liked, and so did its worker's drain."""

    caller = await world.caller()
    caller.send(CHUNKED % b"extract" + before)
    await world.until(lambda: len(world.scopes) == 1)
    caller.send(tail)
    reply = await caller.reply()
    assert (reply.status, reply.headers["connection"]) == (status, "close")
    assert await caller.rest() == b""
    await world.until(lambda: world.connections.overload.in_flight == 0)
    assert world.disconnects == 1


@played(linger_seconds=0.2)
async def test_a_body_that_ends_well_is_answered(world: World) -> None:
    caller = await world.caller()
    for _ in range(2):
        caller.send(b"POST /extract HTTP/1.1\r\nHost: a\r\n" + IN_CHUNKS)
        assert (await caller.reply()).body == b"3"


@played(linger_seconds=0.2)
async def test_a_request_that_was_answered_early_has_no_second_answer(world: World) -> None:
    caller = await world.caller()
    caller.send(CHUNKED % b"early")
    assert (await caller.reply()).body == b"0"
    caller.send(b"zz\r\n")
    assert await caller.rest() == b""


@pytest.mark.parametrize("protocol", [b"h2c", b"websocket", b"TLS/1.0, HTTP/3.0"])
@pytest.mark.parametrize("rest", [DECLARED, IN_CHUNKS])
@pytest.mark.parametrize("at_once", [True, False])
@played()
async def test_a_body_after_an_offered_upgrade_is_read(
    world: World, protocol: bytes, rest: bytes, at_once: bool
) -> None:
    """It was taken for the other protocol and dropped: every request of Java's own client was empty."""

    caller = await world.caller()
    for _ in range(2):
        request = offering(protocol, rest)
        for piece in [request] if at_once else [request[at : at + 1] for at in range(len(request))]:
            caller.send(piece)
            await asyncio.sleep(0)
        reply = await caller.reply()
        assert (reply.status, reply.body) == (200, b"3")
        assert "connection" not in reply.headers
    caller.send(GET)
    assert (await caller.reply()).status == 200
    assert [dict(scope["headers"]).get(b"late") for scope in world.scopes] == [None] * 3


@played(body_bytes=100, linger_seconds=0.2)
async def test_limits_hold_after_an_offered_upgrade(world: World) -> None:
    caller = await world.caller()
    caller.send(offering(b"h2c", b"Expect: 100-continue\r\nContent-Length: 3\r\n\r\n"))
    assert await caller.reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    caller.send(b"abc")
    assert (await caller.reply()).body == b"3"
    caller.send(offering(b"h2c", b"Content-Length: 101\r\n\r\n") + bytes(101))
    assert (await caller.reply()).code == "document_too_large"
    caller.send(GET)
    assert (await caller.reply()).status == 200
    caller.send(offering(b"h2c", b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n" + b"a: b\r\n" * 200 + b"\r\n"))
    assert (await caller.reply()).status == 431
    assert await caller.rest() == b""


@pytest.mark.parametrize("line", [b"GET /livez", b"POST /extract", b"OPTIONS /"])
@played(linger_seconds=0.1)
async def test_an_upgrade_without_a_body_is_answered_as_http(world: World, line: bytes) -> None:
    caller = await world.caller()
    for _ in range(2):
        caller.send(offering(b"websocket", b"\r\n", line))
        assert (await caller.reply()).status == 200
    caller.send(offering(b"websocket", b"\r\nnoise", line))
    assert (await caller.reply()).status == 200
    assert await caller.rest() == b""
    assert len(world.scopes) == 3
