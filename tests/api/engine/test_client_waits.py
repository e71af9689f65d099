"""Waits for the engine: for the first to serve, and those that end without a result, at a deadline or cancelled."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from service.core.admission.head import STARTS_PER_TURN
from service.core.errors import DeadlineExceeded
from service.core.types import Phase
from service.wire import Cancelled, Hello, Refused, Started, Submitted
from tests.support.engine_endpoint import World, play, synchronize, until


def test_a_deadline_ends_the_wait_and_cancels_at_the_engine(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        engine = world.engine("one")
        await engine.open()
        await until(lambda: world.client.serving)
        asked = world.infer(1, seconds=0.3)
        submitted, _ = await engine.receive(Submitted)
        with pytest.raises(DeadlineExceeded):
            await asked
        cancelled, _ = await engine.receive(Cancelled)
        assert cancelled.key == submitted.key

    play(tmp_path, scene)


def test_a_deadline_ends_the_wait_for_an_engine_that_never_comes(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        with pytest.raises(DeadlineExceeded):
            await world.infer(1, seconds=0.1)
        with pytest.raises(DeadlineExceeded):
            await world.infer(1, seconds=-1.0)

    play(tmp_path, scene)


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


def test_who_comes_while_the_engine_loads_waits_until_it_serves(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        waiting = [asyncio.create_task(world.client.wait_while_starting(60.0)) for _ in range(3 * STARTS_PER_TURN)]
        engine = world.engine("one")
        await engine.receive(Hello)
        await engine.send_status(Phase.WARMING)
        await until(lambda: world.client.connected)
        assert (any(each.done() for each in waiting), world.client.starting) == (False, True)
        await engine.send_status()
        await asyncio.gather(*waiting)
        assert (world.client.starting, world.client.serving) == (False, True)

    play(tmp_path, scene)


@pytest.mark.parametrize("phase", [Phase.DRAINING, Phase.FAILED])
def test_nobody_waits_for_an_engine_that_will_not_serve(phase: Phase, tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        waiting = asyncio.create_task(world.client.wait_while_starting(60.0))
        engine = world.engine("one")
        await engine.receive(Hello)
        await engine.send_status(phase, admitting=False)
        await waiting
        assert not world.client.starting

    play(tmp_path, scene)


def test_nobody_waits_for_a_worker_that_stops(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        waiting = asyncio.create_task(world.client.wait_while_starting(60.0))
        await asyncio.sleep(0)
        await world.client.stop()
        await waiting
        world.client.start()

    play(tmp_path, scene)


def test_who_comes_before_the_engine_waits_no_longer_than_he_may(tmp_path: Path) -> None:
    async def scene(world: World) -> None:
        await world.client.wait_while_starting(0.05)
        await world.client.wait_while_starting(-1.0)
        assert world.client.starting

    play(tmp_path, scene)
