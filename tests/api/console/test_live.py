"""The live feed: asks the engine while somebody watches, once for all of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, cast

from service.api.console.live import LiveFeed
from service.api.engine.client import EngineClient
from service.core.debug_snapshot import BatchRun, DebugSnapshot
from service.core.types import Load, Phase
from service.wire import ModelStatus, Status

PROBLEM = "its golden examples failed"
MODEL = ModelStatus(
    "m", "stable", "sha256:0", "/m", ("O",), 512, True, 1_000, problem=PROBLEM, path="fused", dtype="float16"
)


class FakeEngine:
    """An engine that runs one more batch each time it is asked."""

    def __init__(self) -> None:
        self.status = Status("1", Phase.READY, models=(MODEL,))
        self.connected = True
        self.asked: list[int] = []
        self.ran = 0

    async def debug_snapshot(self, since: int) -> DebugSnapshot | None:
        self.asked.append(since)
        self.ran += 1
        batches = tuple(batch(number) for number in range(since + 1, self.ran + 1))
        return DebugSnapshot(self.status.engine, 1.0, Load(3), 0.5, {"compute": 0.9}, 10.0, 9.0, 0.1, batches, ())


def batch(number: int) -> BatchRun:
    return BatchRun(number, "sha256:0", 0.1, 0.2, 30, 60, 20, 5, {"k": (20,), "l": (10,)}, {"ada": 1, "bob": 2})


def feed_of(engine: FakeEngine) -> LiveFeed:
    return LiveFeed(cast(EngineClient, engine), 1_000)


async def state(events: AsyncIterator[bytes]) -> dict[str, Any]:
    """The next state that a watcher is told."""
    async for event in events:
        if event.startswith(b"data: "):
            assert event.endswith(b"\n\n")
            found: dict[str, Any] = json.loads(event[6:])
            return found
    raise AssertionError("the feed ended")


async def test_nobody_watches_and_nothing_is_asked() -> None:
    engine = FakeEngine()
    feed = feed_of(engine)
    await asyncio.sleep(0.01)
    assert not engine.asked
    watcher = feed.watch(None)
    await state(watcher)
    await cast(Any, watcher).aclose()
    asked = len(engine.asked)
    assert asked > 0
    await asyncio.sleep(0.6)
    assert len(engine.asked) == asked


async def test_ten_watchers_ask_no_more_than_one() -> None:
    engine = FakeEngine()
    feed = feed_of(engine)
    watchers = [feed.watch(None) for _ in range(10)]
    for _ in range(2):
        states = await asyncio.gather(*(state(each) for each in watchers))
        assert all(each == states[0] for each in states)
    assert len(engine.asked) <= 3
    for each in watchers:
        await cast(Any, each).aclose()


async def test_a_state_has_load_batches_models_and_thresholds() -> None:
    watcher = feed_of(FakeEngine()).watch(None)
    first, second = await state(watcher), await state(watcher)
    assert [each["number"] for each in first["engine"]["batches"]] == [1]
    assert [each["number"] for each in second["engine"]["batches"]] == [2]
    assert first["engine"]["load"]["documents"] == 3
    assert first["models"][0]["problem"] == PROBLEM
    assert first["models"][0]["code"] == ["fused", "", "", "float16"]
    assert list(first["thresholds"].values()) == sorted(first["thresholds"].values())
    shown = first["engine"]["batches"][0]
    assert (shown["sequences"], shown["documents"], shown["clients"]) == (2, 2, {"ada": 1, "bob": 2})


async def test_a_client_sees_its_own_name_only() -> None:
    feed = feed_of(FakeEngine())
    ada, eve = feed.watch("ada"), feed.watch("eve")
    seen = await asyncio.gather(state(ada), state(eve))
    clients = [each["engine"]["batches"][0]["clients"] for each in seen]
    assert clients == [{"ada": 1, "others": 2}, {"others": 3}]
    for each in (ada, eve):
        await cast(Any, each).aclose()


async def test_another_engine_is_watched_from_its_first_batch_on() -> None:
    engine = FakeEngine()
    feed = feed_of(engine)
    watcher = feed.watch(None)
    for _ in range(2):
        await state(watcher)
    engine.status, engine.ran = Status("2", Phase.READY), 0
    found = await state(watcher)
    assert found["engine"]["engine"] == "2"
    assert found["engine"]["batches"][0]["number"] == 1
    await cast(Any, watcher).aclose()


async def test_a_drain_ends_the_stream() -> None:
    engine = FakeEngine()
    watcher = feed_of(engine).watch(None)
    await state(watcher)
    engine.status = Status("1", Phase.DRAINING)
    left = [event async for event in watcher]
    assert len(left) <= 1
