"""A ROUTER socket that plays the engine for a worker's client: it answers, sends nonsense, dies and comes back."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import zmq
import zmq.asyncio

from service.api.engine.client import EngineClient
from service.api.engine.resubmission import InferenceResult
from service.core.arrays import TokenIds
from service.core.types import Phase, Priority
from service.wire import (
    Buffer,
    Hello,
    Message,
    ModelStatus,
    Scored,
    Status,
    Submitted,
    WireError,
    delivery,
    messages_in,
    pack,
)
from tests.support.async_tests import Scene, as_test

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
        self._unread: deque[tuple[Message | WireError, Buffer | None]] = deque()

    async def receive(self, kind: type[Kind]) -> tuple[Kind, Buffer | None]:
        """The next message of this kind; heartbeats in between are passed over, anything else is a failure."""
        while True:
            if not self._unread:
                self._worker, *frames = await self._socket.recv_multipart()
                self._unread.extend(messages_in(frames))
            message, buffer = self._unread.popleft()
            if isinstance(message, kind):
                return message, buffer
            assert isinstance(message, Hello), f"{message} came instead of {kind.__name__}"

    async def send(self, message: Message, buffer: Buffer | None = None) -> None:
        await self._socket.send_multipart([self._worker, delivery(pack(message, buffer))])

    async def send_raw(self, *frames: bytes) -> None:
        await self._socket.send_multipart([self._worker, *frames])

    async def send_status(self, phase: Phase = Phase.READY, *, admitting: bool = True) -> None:
        """Send a status; in a serving phase it lists the model."""
        models = (MODEL,) if phase in (Phase.READY, Phase.DRAINING) else ()
        await self.send(Status(self.name, phase, admitting=admitting, models=models))

    async def open(self) -> None:
        """Wait for the worker's hello, then report ready."""
        await self.receive(Hello)
        await self.send_status()

    async def score(self, submitted: Submitted, *indices: int) -> None:
        """Send the logits of these sequences (of all, in order, if none is named) filled with the sequence's index."""
        for index in indices or range(len(submitted.lengths)):
            tokens = submitted.lengths[index]
            logits = np.full((tokens, 2), index, dtype=np.float32)
            await self.send(Scored(submitted.key, index, tokens, 2, 1, 0.001), logits)

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

    async def open(self) -> Engine:
        """An engine that serves, as the client knows."""
        engine = self.engine("one")
        await engine.open()
        await until(lambda: self.client.serving)
        return engine

    def infer(self, *lengths: int, seconds: float = SOON) -> asyncio.Task[InferenceResult]:
        """Submit one document with sequences of these lengths, in a task of its own."""
        sequences: list[TokenIds] = [np.full(n, i, dtype=np.int32) for i, n in enumerate(lengths)]
        deadline = time.monotonic() + seconds
        submission = Submitted(
            self.client.new_key(), MODEL.revision, lengths, "c", Priority.INTERACTIVE, deadline, attempt=0
        )
        kept = tuple((0, length) for length in lengths)
        return asyncio.create_task(self.client.infer(submission, sequences, kept))

    def close(self) -> None:
        for engine in self._engines:
            engine.die()

    def _count(self) -> None:
        self.resubmitted += 1


@asynccontextmanager
async def world(folder: Path) -> AsyncIterator[World]:
    world = World(folder)
    world.client.start()
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


def played(scene: Scene) -> Callable[..., None]:
    """Make a test of a scene in a fresh world."""

    async def whole(tmp_path: Path, **arguments: Any) -> None:
        async with world(tmp_path) as made:
            await scene(made, **arguments)

    return as_test(scene, lambda **arguments: asyncio.run(whole(**arguments)), "tmp_path")


def firsts(result: InferenceResult) -> list[float]:
    """The first logit of each sequence: its index, as `Engine.score` fills all of its rows."""
    return [float(value) for value, _ in groupby(result.logits[:, 0].tolist())]


async def synchronize(engine: Engine, world: World) -> None:
    """Wait until the client has handled all that the engine has sent; messages keep their order."""
    marker = world.infer(7)
    submitted, _ = await engine.receive(Submitted)
    await engine.score(submitted)
    await marker
