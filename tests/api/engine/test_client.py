"""A worker's client of the engine: submissions, logits, refusals, heartbeats, and messages that make no sense."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from service.api.engine.client import RevisionLeases
from service.api.engine.routing import refuse_unless_serving
from service.core.decoding.word_tags import WordTags
from service.core.errors import EngineRestarting, QueueFull
from service.core.types import Phase
from service.wire import Cancelled, Hello, Refused, Scored, Submitted, tagged
from tests.support.engine_endpoint import MODEL, World, firsts, play, synchronize, until


def test_a_document_is_one_message_and_its_logits_come_back(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        engine = world.engine("one")
        await engine.open()
        await until(lambda: world.client.serving)
        asked = world.infer(2, 3)
        submitted, tokens = await engine.receive(Submitted)
        assert (submitted.lengths, submitted.model, submitted.attempt) == ((2, 3), MODEL.revision, 0)
        assert np.asarray(tokens).tolist() == [0, 0, 1, 1, 1]
        await engine.score(submitted)
        assert (await asked).logits.shape == (5, 2)
        assert world.resubmitted == 0

    play(tmp_path, scene)


def test_documents_and_windows_are_answered_in_any_order(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        engine = world.engine("one")
        await engine.open()
        await until(lambda: world.client.serving)
        first, second = world.infer(1, 1, 1), world.infer(1, 1)
        submissions = [(await engine.receive(Submitted))[0] for _ in range(2)]
        await engine.score(submissions[1], 1)
        await engine.score(submissions[0], 2, 0)
        await engine.score(submissions[1], 0)
        assert firsts(await second) == [0, 1]
        assert not first.done()
        await engine.score(submissions[0], 1)
        assert firsts(await first) == [0, 1, 2]

    play(tmp_path, scene)


def test_one_message_brings_the_tags_of_several_documents(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        engine = world.engine("one")
        await engine.open()
        await until(lambda: world.client.serving)
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

    play(tmp_path, scene)


def test_a_refusal_is_raised_as_what_it_is(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        engine = world.engine("one")
        await engine.open()
        asked = world.infer(1)
        submitted, _ = await engine.receive(Submitted)
        await engine.send(Refused(submitted.key, "queue_full", "full", 3.0))
        with pytest.raises(QueueFull, match="full") as caught:
            await asked
        assert caught.value.retry_after_seconds == 3.0

    play(tmp_path, scene)


def test_bytes_that_are_no_message_are_skipped(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        engine = world.engine("one")
        await engine.open()
        await engine.send_raw(b"\x63nonsense")
        await engine.send(Cancelled("not for a worker"))
        await synchronize(engine, world)

    play(tmp_path, scene)


def test_logits_of_a_wrong_shape_are_skipped(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        engine = world.engine("one")
        await engine.open()
        asked = world.infer(3)
        submitted, _ = await engine.receive(Submitted)
        await engine.send(Scored(submitted.key, 0, 3, 2, 1, 0.1), np.zeros(5, dtype=np.float32))
        await engine.score(submitted)
        assert firsts(await asked) == [0]

    play(tmp_path, scene)


def test_an_engine_that_is_silent_serves_no_more_until_it_is_heard_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.api.engine.client.MOST_SILENCE_SECONDS", 1.0)

    async def scene(world: World) -> None:
        engine = world.engine("one")
        await engine.open()
        await until(lambda: world.client.serving)
        asked = world.infer(1)
        submitted, _ = await engine.receive(Submitted)
        await until(lambda: not world.client.connected)
        with pytest.raises(EngineRestarting):
            refuse_unless_serving(world.client.status, world.client.connected)
        await engine.score(submitted)
        assert firsts(await asked) == [0]
        assert world.client.serving
        assert world.resubmitted == 0

    play(tmp_path, scene)


def test_heartbeats_report_active_requests_and_a_closed_worker(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        world.active = 3
        engine = world.engine("one")
        await engine.open()
        hello, _ = await engine.receive(Hello)
        assert (hello.active_requests, hello.closed) == (3, False)
        await engine.send_status(Phase.DRAINING, admitting=True)
        await until(lambda: world.client.status.phase is Phase.DRAINING)
        await engine.send_status(Phase.DRAINING, admitting=False)
        while not hello.closed:
            hello, _ = await engine.receive(Hello)
        assert hello.active_requests == 3

    play(tmp_path, scene)


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
