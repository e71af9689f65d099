"""Refusals before the body is parsed: cheap, and the connection stays open where its body is small."""

from __future__ import annotations

import asyncio
import time

import pytest
from starlette.responses import Response

from service.api.connection.refusals import Translation
from service.core.admission.head import AdmittedRequest
from service.core.errors import GleanerError
from tests.support.bounded_server import World, played

POST = b"POST /extract HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"


@played()
async def test_a_refusal_reads_a_small_body_and_keeps_the_connection(world: World) -> None:
    control, now = world.connections.overload, time.monotonic()
    for admitted in [control.admit(0, 300.0, now - 200.0, now - 200.0) for _ in range(16)]:
        assert isinstance(admitted, AdmittedRequest)
        control.finished(admitted, "deadline_exceeded", now)
    holders = [await world.caller() for _ in range(13)]
    for holder in holders:
        holder.send(POST.replace(b"extract", b"hold") % 1 + b"x")
    await world.until(lambda: len(world.scopes) == 13)
    caller = await world.caller()
    for _ in range(3):
        caller.send(POST % 5 + b"123")
        caller.send(b"45")
        reply = await caller.reply()
        assert (reply.status, reply.code, reply.headers["retry-after"]) == (429, "queue_full", "1")
    large = await world.caller()
    large.send(POST % 100_000)
    assert (await large.reply()).headers["connection"] == "close"
    world.backlog_seconds = 6.2
    world.connections.sweep(time.monotonic())
    caller.send(POST % 0)
    assert (await caller.reply()).headers["retry-after"] == "7"
    expecting = await world.caller()
    expecting.send((POST % 5)[:-2] + b"Expect: 100-continue\r\n\r\n")
    assert (await expecting.rest()).startswith(b"HTTP/1.1 429 ")
    caller.send(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
    assert (await caller.reply()).status == 200
    world.held.set()
    for holder in holders:
        assert (await holder.reply()).status == 200
    caller.send(POST % 5 + b"12345")
    assert (await caller.reply()).body == b"5"


@played()
async def test_a_deadline_counts_from_the_arrival_in_the_socket(world: World) -> None:
    """Requests waited for seconds before the service's own clock began."""

    caller = await world.caller()
    deadline = b"POST /extract?deadline_ms=%d HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"
    caller.send(deadline % 100)
    time.sleep(0.3)
    reply = await caller.reply()
    assert (reply.status, reply.code) == (504, "deadline_exceeded")
    begun = time.monotonic()
    caller.send(deadline % 60_000)
    sent = time.monotonic()
    time.sleep(0.3)
    assert (await caller.reply()).status == 200
    arrived = world.scopes[-1]["state"]["arrived_seconds"]
    assert begun - 0.05 <= arrived <= sent + 0.15


@played()
async def test_a_burst_does_not_stop_the_loop_and_late_requests_are_refused(world: World) -> None:
    """A burst of 4,096 stopped a worker for so long that the engine took it for dead and refused them all."""

    callers = [await world.caller() for _ in range(60)]
    for caller in callers:  # All together take six seconds.
        caller.send(b"POST /slow?deadline_ms=3000 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
    gone = callers.pop()
    await asyncio.sleep(0)
    gone.writer.transport.abort()
    replies = await asyncio.gather(*(caller.reply() for caller in callers))
    statuses = [reply.status for reply in replies]
    assert set(statuses) == {200, 504}
    assert statuses.count(200) + statuses.count(504) == 59
    assert len(world.scopes) < 59 + 1, "some were refused without their work"
    await world.until(lambda: world.connections.overload.in_flight == 0)


@played()
async def test_the_lag_of_the_event_loop_is_measured(world: World) -> None:
    taken_on = [world.connections.overload.admit(0, 0.5, 0.0, 0.0) for _ in range(40)]
    assert len(taken_on) == 40
    await asyncio.sleep(0.1)
    time.sleep(0.4)
    await asyncio.sleep(0.1)
    assert world.connections.overload.limit < 40


@played()
async def test_refused_documents_are_reported_for_the_fleet_to_scale_by(world: World) -> None:
    caller = await world.caller()
    for path in (b"extract", b"redact", b"other"):
        caller.send(b"POST /%s?deadline_ms=50 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n" % path)
        time.sleep(0.2)
        assert (await caller.reply()).status == 504
    world.connections.sweep(time.monotonic())
    reported = [code for code, count in world.overloads for _ in range(count)]
    assert reported == ["deadline_exceeded"] * 2, "at one sweep of the server or at two"


def _translated(method: str, path: str, headers: object, error: GleanerError) -> Translation | None:
    if path != "/adapter":
        return None
    assert isinstance(headers, list)
    return Translation("adapter", Response(f"{method} {error.code} {len(headers)}", 413, {"X-Own": "1"}))


@played(body_bytes=10)
async def test_a_refusal_is_in_the_words_of_the_adapter_it_is_for(world: World) -> None:
    world.connections.refusals.translate = _translated
    head = "POST /%s?a=b HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n"
    theirs, ours = await world.ask(head % "adapter"), await world.ask(head % "extract")
    assert (theirs.status, theirs.body, theirs.headers["x-own"]) == (413, b"POST document_too_large 2", "1")
    assert (ours.status, ours.code) == (413, "document_too_large")


@pytest.mark.parametrize(
    "target", ["http://[", "http://a:99999999/", "http://", "http://a", "http://a:b/", "/a#b", "/\xe9", "http://a b"]
)
@played()
async def test_a_target_that_cannot_be_parsed_holds_no_place_in_flight(world: World, target: str) -> None:
    """It was admitted before its target was parsed, and its place was never given back."""

    caller = await world.caller()
    caller.send(f"POST {target} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n".encode("latin-1"))
    assert (await caller.reply()).status in (200, 400)
    await world.until(lambda: world.connections.overload.in_flight == 0)
