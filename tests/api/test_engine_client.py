"""A worker's connection, against a ROUTER socket that plays the engine: it answers, lies, dies and comes back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pytest
import zmq
import zmq.asyncio

from service.api.engine_client import EngineClient
from service.api.pending import Judgement
from service.core.errors import DeadlineExceeded, Draining, PoisonDocument, QueueFull
from service.core.sequence import Phase, Priority
from service.wire import (
    Buffer,
    Cancelled,
    Hello,
    Message,
    ModelStatus,
    Refused,
    Scored,
    Started,
    Status,
    Submitted,
    pack,
    unpack,
)

LIMIT_SECONDS = 30.0
SOON = 20.0
MODEL = ModelStatus("m", "stable", "sha256:0", "/models/m", ("O", "B-X"), 512, True, 1)
Kind = TypeVar("Kind", bound=Message)


class Engine:
    """The engine's end of the wire, moved by the test."""

    def __init__(self, address: str, name: str) -> None:
        self.name = name
        self._context = zmq.asyncio.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.bind(address)
        self._worker = b""

    async def receive(self, kind: type[Kind]) -> tuple[Kind, Buffer | None]:
        """The next message of this kind; heartbeats in between are passed over, anything else is a failure."""
        while True:
            self._worker, *frames = await self._socket.recv_multipart()
            message, buffer = unpack(frames)
            if isinstance(message, kind):
                return message, buffer
            assert isinstance(message, Hello), f"{message} came instead of {kind.__name__}"

    async def send(self, message: Message, buffer: Buffer | None = None) -> None:
        await self._socket.send_multipart([self._worker, *pack(message, buffer)])

    async def send_raw(self, *frames: bytes) -> None:
        await self._socket.send_multipart([self._worker, *frames])

    async def say(self, phase: Phase = Phase.READY, *, admitting: bool = True) -> None:
        """A status, with the model where there is one."""
        models = (MODEL,) if phase in (Phase.READY, Phase.DRAINING) else ()
        await self.send(Status(self.name, phase, admitting=admitting, models=models))

    async def open(self) -> None:
        """Wait for the worker, and be ready."""
        await self.receive(Hello)
        await self.say()

    async def score(self, submitted: Submitted, *indices: int) -> None:
        """Rows for these sequences (all, in order, if none are named), each row full of its sequence's index."""
        for index in indices or range(len(submitted.lengths)):
            tokens = submitted.lengths[index]
            rows = np.full((tokens, 2), index, dtype=np.float32)
            await self.send(Scored(submitted.key, index, tokens, 2, 1, 0.001), rows)

    def die(self) -> None:
        self._context.destroy(linger=0)


class World:
    """One client, and engines one after the other at its address."""

    def __init__(self, folder: Path) -> None:
        self.address = f"ipc://{folder}/engine"
        self.resubmitted = 0
        self.active = 0
        self.client = EngineClient(self.address, lambda: self.active, self._count)
        self._engines: list[Engine] = []

    def engine(self, name: str) -> Engine:
        self._engines.append(Engine(self.address, name))
        return self._engines[-1]

    def judge(self, *lengths: int, seconds: float = SOON) -> asyncio.Task[Judgement]:
        """Ask for one document, in a task of its own."""
        sequences: list[npt.NDArray[np.int32]] = [np.full(n, i, dtype=np.int32) for i, n in enumerate(lengths)]
        return asyncio.create_task(
            self.client.judge(
                MODEL.revision,
                sequences,
                client="c",
                priority=Priority.INTERACTIVE,
                deadline_seconds=time.monotonic() + seconds,
            )
        )

    def close(self) -> None:
        for engine in self._engines:
            engine.die()

    def _count(self) -> None:
        self.resubmitted += 1


@asynccontextmanager
async def world(folder: Path) -> AsyncIterator[World]:
    world = World(folder)
    await world.client.start()
    try:
        async with asyncio.timeout(LIMIT_SECONDS):
            yield world
    finally:
        await world.client.stop()
        world.close()


async def until(holds: Callable[[], bool]) -> None:
    """Wait for a condition; the world's own limit ends the wait."""
    while not holds():
        await asyncio.sleep(0.005)


def play(folder: Path, scene: Callable[[World], Awaitable[None]]) -> None:
    """Run a scene in a fresh world."""

    async def whole() -> None:
        async with world(folder) as made:
            await scene(made)

    asyncio.run(whole())


def firsts(judgement: Judgement) -> list[float]:
    return [float(rows[0, 0]) for rows in judgement.rows]


def test_a_document_goes_out_as_one_message_and_its_rows_come_back(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        engine = world.engine("one")
        await engine.open()
        await until(lambda: world.client.serving)
        asked = world.judge(2, 3)
        submitted, tokens = await engine.receive(Submitted)
        assert (submitted.lengths, submitted.model, submitted.attempt) == ((2, 3), MODEL.revision, 0)
        assert np.asarray(tokens).tolist() == [0, 0, 1, 1, 1]
        await engine.score(submitted)
        assert [rows.shape for rows in (await asked).rows] == [(2, 2), (3, 2)]
        assert world.resubmitted == 0

    play(tmp_path, scene)


def test_documents_and_windows_are_answered_in_any_order(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        engine = world.engine("one")
        await engine.open()
        await until(lambda: world.client.serving)
        first, second = world.judge(1, 1, 1), world.judge(1, 1)
        papers = [(await engine.receive(Submitted))[0] for _ in range(2)]
        await engine.score(papers[1], 1)
        await engine.score(papers[0], 2, 0)
        await engine.score(papers[1], 0)
        assert firsts(await second) == [0, 1]
        assert not first.done()
        await engine.score(papers[0], 1)
        assert firsts(await first) == [0, 1, 2]

    play(tmp_path, scene)


def test_what_was_asked_before_the_engine_is_there_waits_for_it(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        asked = world.judge(1)
        engine = world.engine("one")
        await engine.receive(Hello)
        await engine.say(Phase.LOADING)
        await until(lambda: world.client.connected)
        assert not world.client.serving
        await engine.say()
        await engine.score((await engine.receive(Submitted))[0])
        assert firsts(await asked) == [0]

    play(tmp_path, scene)


def test_a_refusal_is_raised_as_what_it_is(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        engine = world.engine("one")
        await engine.open()
        asked = world.judge(1)
        submitted, _ = await engine.receive(Submitted)
        await engine.send(Refused(submitted.key, "queue_full", "full", 3.0))
        with pytest.raises(QueueFull, match="full") as caught:
            await asked
        assert caught.value.retry_after_seconds == 3.0

    play(tmp_path, scene)


def test_a_not_ready_is_no_answer_it_is_sent_again_at_the_next_status(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        engine = world.engine("one")
        await engine.open()
        asked = world.judge(1)
        submitted, _ = await engine.receive(Submitted)
        await engine.send(Refused(submitted.key, "not_ready", "still loading"))
        await engine.say()
        again, _ = await engine.receive(Submitted)
        assert again == submitted
        await engine.score(again)
        assert firsts(await asked) == [0]

    play(tmp_path, scene)


def test_when_the_engine_dies_everything_pending_goes_to_the_next_one(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        first = world.engine("one")
        await first.open()
        await until(lambda: world.client.serving)
        running, waiting = world.judge(1, 1), world.judge(1)
        papers = [(await first.receive(Submitted))[0] for _ in range(2)]
        await first.send(Started((papers[0].key,)))
        await first.score(papers[0], 1)
        done = world.judge(1)
        await first.score((await first.receive(Submitted))[0])
        await done
        first.die()
        await until(lambda: not world.client.connected)
        second = world.engine("two")
        await second.open()
        again = {submitted.key: submitted for submitted in [(await second.receive(Submitted))[0] for _ in range(2)]}
        assert [again[each.key].attempt for each in papers] == [1, 0]
        for submitted in again.values():
            await second.score(submitted)
        assert (firsts(await running), firsts(await waiting)) == ([0, 1], [0])
        assert world.resubmitted == 2

    play(tmp_path, scene)


def test_a_document_that_ran_at_two_deaths_is_poison_and_not_sent_a_third_time(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        poison = world.judge(1)
        for death in range(2):
            engine = world.engine(f"engine {death}")
            await engine.open()
            submitted, _ = await engine.receive(Submitted)
            assert submitted.attempt == death
            await engine.send(Started((submitted.key,)))
            await _heard(engine, world)
            engine.die()
            await until(lambda: not world.client.connected)
        third = world.engine("third")
        await third.open()
        with pytest.raises(PoisonDocument):
            await poison
        innocent = world.judge(2)
        submitted, _ = await third.receive(Submitted)
        assert submitted.lengths == (2,)
        await third.score(submitted)
        await innocent

    play(tmp_path, scene)


async def _heard(engine: Engine, world: World) -> None:
    """All that the engine has said so far has been heard, since messages keep their order."""
    marker = world.judge(7)
    submitted, _ = await engine.receive(Submitted)
    await engine.score(submitted)
    await marker


def test_a_deadline_ends_the_wait_and_the_engine_is_told(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        engine = world.engine("one")
        await engine.open()
        await until(lambda: world.client.serving)
        asked = world.judge(1, seconds=0.3)
        submitted, _ = await engine.receive(Submitted)
        with pytest.raises(DeadlineExceeded):
            await asked
        cancelled, _ = await engine.receive(Cancelled)
        assert cancelled.key == submitted.key

    play(tmp_path, scene)


def test_a_deadline_ends_the_wait_for_an_engine_that_never_comes(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        with pytest.raises(DeadlineExceeded):
            await world.judge(1, seconds=0.1)
        with pytest.raises(DeadlineExceeded):
            await world.judge(1, seconds=-1.0)

    play(tmp_path, scene)


def test_when_nobody_waits_any_more_the_engine_is_told_and_late_rows_find_nobody(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        engine = world.engine("one")
        await engine.open()
        asked = world.judge(1)
        submitted, _ = await engine.receive(Submitted)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        cancelled, _ = await engine.receive(Cancelled)
        assert cancelled.key == submitted.key
        await engine.score(submitted)
        await engine.send(Started((submitted.key,)))
        await engine.send(Refused(submitted.key, "queue_full", "full"))
        await _heard(engine, world)

    play(tmp_path, scene)


def test_nonsense_from_the_engine_does_not_make_the_worker_deaf(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        engine = world.engine("one")
        await engine.open()
        await engine.send_raw(b"\x63nonsense")
        await engine.send(Cancelled("not for a worker"))
        await _heard(engine, world)

    play(tmp_path, scene)


def test_rows_that_do_not_fit_their_shape_do_not_make_the_worker_deaf(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        engine = world.engine("one")
        await engine.open()
        asked = world.judge(3)
        submitted, _ = await engine.receive(Submitted)
        await engine.send(Scored(submitted.key, 0, 3, 2, 1, 0.1), np.zeros(5, dtype=np.float32))
        await engine.score(submitted)
        assert firsts(await asked) == [0]

    play(tmp_path, scene)


def test_heartbeats_say_how_many_requests_are_answered_and_when_the_door_is_closed(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        world.active = 3
        engine = world.engine("one")
        await engine.open()
        hello, _ = await engine.receive(Hello)
        assert (hello.active_requests, hello.closed) == (3, False)
        await engine.say(Phase.DRAINING, admitting=True)
        await until(lambda: world.client.status.phase is Phase.DRAINING)
        await engine.say(Phase.DRAINING, admitting=False)
        while not hello.closed:
            hello, _ = await engine.receive(Hello)
        assert hello.active_requests == 3

    play(tmp_path, scene)


def test_stopping_fails_what_is_pending(tmp_path: Path) -> None:
    async def scene() -> None:
        async with asyncio.timeout(LIMIT_SECONDS):
            world = World(tmp_path)
            await world.client.start()
            engine = world.engine("one")
            await engine.open()
            submitted, unsubmitted = world.judge(1), world.judge(1)
            await engine.receive(Submitted)
            await world.client.stop()
            for asked in (submitted, unsubmitted):
                with pytest.raises(Draining):
                    await asked
            world.close()

    asyncio.run(scene())
