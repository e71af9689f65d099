"""Waits for the engine: for the first to serve, and those that end without a result."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from service.core.types import Phase
from service.wire import Cancelled, Hello, Refused, Started, Submitted
from tests.support.engine_endpoint import World, play, synchronize, until


def test_a_cancelled_wait_cancels_at_the_engine_and_ignores_late_messages(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        engine = world.engine("one")
        await engine.open()
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

    play(tmp_path, scene)


@pytest.mark.parametrize(
    ("phase", "starting"), [(Phase.WARMING, True), (Phase.READY, False), (Phase.DRAINING, False), (Phase.FAILED, False)]
)
def test_the_first_engine_starts_until_it_serves_or_none_will(phase: Phase, starting: bool, tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        assert world.client.starting
        engine = world.engine("one")
        await engine.receive(Hello)
        await engine.send_status(phase, admitting=phase is Phase.READY)
        await until(lambda: world.client.connected)
        assert world.client.starting is starting

    play(tmp_path, scene)


def test_no_engine_starts_for_a_worker_that_stops(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        await world.client.stop()
        assert not world.client.starting
        world.client.start()

    play(tmp_path, scene)
