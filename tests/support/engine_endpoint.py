"""A ROUTER socket that plays the engine for a worker's connection: it answers, lies, dies and comes back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import zmq
import zmq.asyncio

from service.api.engine.client import EngineClient
from service.api.engine.pending import InferenceResult
from service.core.types import Phase, Priority
from service.wire import Buffer, Hello, Message, ModelStatus, Scored, Status, Submitted, pack, unpack

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

    def judge(self, *lengths: int, seconds: float = SOON) -> asyncio.Task[InferenceResult]:
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


def firsts(judgement: InferenceResult) -> list[float]:
    return [float(rows[0, 0]) for rows in judgement.rows]


async def heard(engine: Engine, world: World) -> None:
    """All that the engine has said so far has been heard, since messages keep their order."""
    marker = world.judge(7)
    submitted, _ = await engine.receive(Submitted)
    await engine.score(submitted)
    await marker
