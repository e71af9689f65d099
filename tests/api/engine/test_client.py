"""A worker's client of the engine: submissions, logits, refusals, heartbeats, and messages that make no sense."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import numpy as np
import pytest

from service.api.engine.client import RevisionLeases
from service.api.engine.routing import refuse_unless_serving
from service.core.decoding.word_tags import WordTags
from service.core.errors import EngineRestarting, QueueFull
from service.core.types import Phase
from service.wire import Cancelled, Hello, Refused, Scored, Started, Submitted, tagged
from tests.support.engine_endpoint import MODEL, World, firsts, played, synchronize, until


@played
async def test_a_document_is_one_message_and_its_logits_come_back(world: World) -> None:
    engine = await world.open()
    asked = world.infer(2, 3)
    submitted, tokens = await engine.receive(Submitted)
    assert (submitted.lengths, submitted.model, submitted.attempt) == ((2, 3), MODEL.revision, 0)
    assert np.asarray(tokens).tolist() == [0, 0, 1, 1, 1]
    await engine.score(submitted)
    assert (await asked).logits.shape == (5, 2)
    assert world.resubmitted == 0


@played
async def test_documents_and_windows_are_answered_in_any_order(world: World) -> None:
    engine = await world.open()
    first, second = world.infer(1, 1, 1), world.infer(1, 1)
    submissions = [(await engine.receive(Submitted))[0] for _ in range(2)]
    await engine.score(submissions[1], 1)
    await engine.score(submissions[0], 2, 0)
    await engine.score(submissions[1], 0)
    assert firsts(await second) == [0, 1]
    assert not first.done()
    await engine.score(submissions[0], 1)
    assert firsts(await first) == [0, 1, 2]


@played
async def test_one_message_brings_the_tags_of_several_documents(world: World) -> None:
    engine = await world.open()
    first, second = world.infer(3), world.infer(2)
    keys = [(await engine.receive(Submitted))[0].key for _ in range(2)]
    found = [WordTags(np.array([1, 0]), np.array([0.9])), WordTags(np.array([0]), np.empty(0))]
    gone = {"gone before": WordTags(np.array([1]), np.array([0.5]))}
    await engine.send(*tagged({**gone, **dict(zip(keys, found, strict=True))}, 4, 0.1))
    results = [await first, await second]
    tags = [result.tags for result in results if result.tags is not None]
    assert [each.labels.tolist() for each in tags] == [[1, 0], [0]]
    assert [each.probabilities.tolist() for each in tags] == [[0.9], []]
    assert [result.batches for result in results] == [(4,), (4,)]


@played
async def test_a_refusal_is_raised_as_what_it_is(world: World) -> None:
    engine = await world.open()
    asked = world.infer(1)
    submitted, _ = await engine.receive(Submitted)
    await engine.send(Refused(submitted.key, "queue_full", "full", 3.0))
    with pytest.raises(QueueFull, match="full") as caught:
        await asked
    assert caught.value.retry_after_seconds == 3.0


@played
async def test_bytes_that_are_no_message_are_skipped(world: World) -> None:
    engine = await world.open()
    await engine.send_raw(b"\x63nonsense")
    await engine.send(Cancelled("not for a worker"))
    await synchronize(engine, world)


@played
async def test_logits_of_a_wrong_shape_are_skipped(world: World) -> None:
    engine = await world.open()
    asked = world.infer(3)
    submitted, _ = await engine.receive(Submitted)
    await engine.send(Scored(submitted.key, 0, 3, 2, 1, 0.1), np.zeros(5, dtype=np.float32))
    await engine.score(submitted)
    assert firsts(await asked) == [0]


@played
async def test_an_engine_that_is_silent_serves_no_more_until_it_is_heard_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await world.open()
    asked = world.infer(1)
    submitted, _ = await engine.receive(Submitted)
    monkeypatch.setattr("service.api.engine.client.MOST_SILENCE_SECONDS", 1.0)
    await until(lambda: not world.client.connected)
    with pytest.raises(EngineRestarting):
        refuse_unless_serving(world.client.status, world.client.connected)
    await engine.score(submitted)
    assert firsts(await asked) == [0]
    assert world.client.serving
    assert world.resubmitted == 0


@played
async def test_heartbeats_report_active_requests_and_a_closed_worker(world: World) -> None:
    world.active = 3
    engine = await world.open()
    hello, _ = await engine.receive(Hello)
    assert (hello.active_requests, hello.closed) == (3, False)
    await engine.send_status(Phase.DRAINING, admitting=True)
    await until(lambda: world.client.status.phase is Phase.DRAINING)
    await engine.send_status(Phase.DRAINING, admitting=False)
    while not hello.closed:
        hello, _ = await engine.receive(Hello)
    assert hello.active_requests == 3


def test_a_revision_is_leased_until_its_last_context_ends() -> None:
    leases = RevisionLeases()
    with leases.hold("a"):
        with leases.hold("a"), leases.hold("b"):
            assert list(leases.revisions) == ["a", "b"]
        assert list(leases.revisions) == ["a"]
    assert list(leases.revisions) == []


def test_an_error_gives_the_lease_back() -> None:
    leases = RevisionLeases()
    with pytest.raises(ValueError, match="bug"), leases.hold("a"):
        raise ValueError("bug")
    assert list(leases.revisions) == []


def test_a_lease_ends_with_an_owner_that_was_never_started() -> None:
    async def stream() -> AsyncIterator[bytes]:
        yield b""

    leases, owner = RevisionLeases(), stream()
    leases.hold_while_alive("a", owner)
    assert list(leases.revisions) == ["a"]
    del owner
    assert list(leases.revisions) == []


@played
async def test_a_cancelled_wait_cancels_at_the_engine_and_ignores_late_messages(world: World) -> None:
    engine = await world.open()
    asked = world.infer(1)
    submitted, _ = await engine.receive(Submitted)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    cancelled, _ = await engine.receive(Cancelled)
    assert cancelled.key == submitted.key
    await engine.score(submitted)
    await engine.send(Started((submitted.key,)))
    await engine.send(Refused(submitted.key, "queue_full", "full"))
    await synchronize(engine, world)


@pytest.mark.parametrize(
    ("phase", "starting"), [(Phase.WARMING, True), (Phase.READY, False), (Phase.DRAINING, False), (Phase.FAILED, False)]
)
@played
async def test_the_first_engine_starts_until_it_serves_or_none_will(world: World, phase: Phase, starting: bool) -> None:
    assert world.client.starting
    engine = world.engine("one")
    await engine.receive(Hello)
    await engine.send_status(phase, admitting=phase is Phase.READY)
    await until(lambda: world.client.connected)
    assert world.client.starting is starting


@played
async def test_no_engine_starts_for_a_worker_that_stops(world: World) -> None:
    await world.client.stop()
    assert not world.client.starting
    world.client.start()
