"""A worker's client when engines are not there yet, die and come back, and when it stops."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from service.core.errors import Draining, EngineRestarting
from service.core.types import Phase
from service.wire import Hello, Refused, Started, Status, Submitted
from tests.support.engine_endpoint import LIMIT_SECONDS, MODEL, World, firsts, played, until


@played
async def test_a_document_submitted_before_the_engine_starts_waits_for_it(world: World) -> None:
    asked = world.infer(1)
    engine = world.engine("one")
    await engine.receive(Hello)
    await engine.send_status(Phase.LOADING)
    await until(lambda: world.client.connected)
    assert not world.client.serving
    await engine.send_status()
    await engine.score((await engine.receive(Submitted))[0])
    assert firsts(await asked) == [0]


@played
async def test_after_not_ready_a_document_is_sent_again_at_the_next_status(world: World) -> None:
    engine = await world.open()
    asked = world.infer(1)
    submitted, _ = await engine.receive(Submitted)
    await engine.send(Refused(submitted.key, "not_ready", "still loading"))
    await engine.send_status()
    again, _ = await engine.receive(Submitted)
    assert again == submitted
    await engine.score(again)
    assert firsts(await asked) == [0]


@played
async def test_everything_pending_goes_to_the_next_engine_after_a_death(world: World) -> None:
    first = await world.open()
    running, waiting = world.infer(1, 1), world.infer(1)
    submissions = [(await first.receive(Submitted))[0] for _ in range(2)]
    await first.send(Started((submissions[0].key,)))
    await first.score(submissions[0], 1)
    done = world.infer(1)
    await first.score((await first.receive(Submitted))[0])
    await done
    first.die()
    await until(lambda: not world.client.connected)
    second = world.engine("two")
    await second.open()
    again = {submitted.key: submitted for submitted in [(await second.receive(Submitted))[0] for _ in range(2)]}
    assert [again[each.key].attempt for each in submissions] == [1, 0]
    for submitted in again.values():
        await second.score(submitted)
    assert (firsts(await running), firsts(await waiting)) == ([0, 1], [0])
    assert world.resubmitted == 2


@played
async def test_two_statuses_at_once_are_one_resubmission(world: World) -> None:
    first = await world.open()
    asked = world.infer(1)
    await first.receive(Submitted)
    first.die()
    await until(lambda: not world.client.connected)
    second = world.engine("two")
    await second.receive(Hello)
    world.client._on_message(status := Status("two", Phase.READY, admitting=True, models=(MODEL,)), None)
    world.client._on_message(status, None)
    again, _ = await second.receive(Submitted)
    await second.score(again)
    await asked
    assert world.resubmitted == 1


async def test_stopping_fails_what_is_pending(tmp_path: Path) -> None:
    async with asyncio.timeout(LIMIT_SECONDS):
        world = World(tmp_path)
        world.client.start()
        engine = world.engine("one")
        await engine.open()
        submitted, unsubmitted = world.infer(1), world.infer(1)
        await engine.receive(Submitted)
        await world.client.stop()
        for asked in (submitted, unsubmitted):
            with pytest.raises(Draining):
                await asked
        world.close()


@played
async def test_when_no_engine_follows_everything_is_refused(world: World) -> None:
    engine = world.engine("one")
    await engine.receive(Hello)
    await engine.send_status(Phase.LOADING)
    await until(lambda: world.client.connected)
    waits = world.infer(1)
    await asyncio.sleep(0)
    await engine.send(Status("one", Phase.FAILED, final=True))
    with pytest.raises(EngineRestarting):
        await waits
    while not (await engine.receive(Hello))[0].closed:
        pass
    with pytest.raises(EngineRestarting):
        await world.infer(1)
