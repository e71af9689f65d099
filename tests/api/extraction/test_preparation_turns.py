"""Texts wait for their turn to be prepared, begin when it has come, and leave nothing behind."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable

import pytest

from service.api.extraction.text_queue import TokenizationThrottle
from service.core.admission.pacing import (
    AHEAD_SECONDS,
    FEW_TOKENS,
    PacingTicket,
)
from service.core.admission.policy import QueueState

SPEED = 1_000.0
CHARACTERS = int(AHEAD_SECONDS * SPEED / FEW_TOKENS)
"""Of a text that keeps the device busy for as long as a client may be ahead."""
FAR = 1e9


def turns(speed: float = SPEED) -> TokenizationThrottle:
    return TokenizationThrottle(lambda: QueueState(speed or math.inf, limit_tokens=10**9))


def bring(waiting: TokenizationThrottle, count: int) -> list[PacingTicket]:
    return [waiting.enter("c", CHARACTERS, FAR, paced=True) for _ in range(count)]


def test_a_text_waits_until_one_before_it_is_over() -> None:
    async def scene() -> None:
        waiting = turns()
        places = bring(waiting, 5)
        assert [place.may_begin for place in places] == [True, True, False, False, False]
        tasks = [asyncio.create_task(waiting.turn(place)) for place in places[2:]]
        await asyncio.sleep(0.01)
        assert [task.done() for task in tasks] == [True, False, False]
        for place in places[:3]:
            waiting.leave(place)
        await asyncio.sleep(0.01)
        assert tasks[1].done()
        for task in tasks:
            task.cancel()

    asyncio.run(scene())


def test_or_until_its_time_has_come() -> None:
    async def scene() -> float:
        waiting = turns(speed=100 * SPEED)
        places = [waiting.enter("c", 10 * CHARACTERS, FAR, paced=True) for _ in range(15)]
        begun = time.monotonic()
        async with asyncio.timeout(10.0):
            await asyncio.gather(*map(waiting.turn, places))
        return time.monotonic() - begun

    assert asyncio.run(scene()) >= 0.1


def test_a_client_whose_texts_are_long_delays_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next look is due with the earliest text of all clients, also if one that is due later was there before."""
    delays: list[float] = []

    async def scene() -> None:
        loop = asyncio.get_running_loop()

        def call_later(delay: float, look: Callable[[], None]) -> asyncio.Handle:
            delays.append(delay)
            return asyncio.Handle(look, (), loop)

        monkeypatch.setattr(loop, "call_later", call_later)
        waiting = TokenizationThrottle(lambda: QueueState(SPEED, limit_tokens=10**9), lambda: 100.0)
        tasks = []
        for client, characters, due in (("long", 100 * CHARACTERS, 0.2), ("short", 500, 0.05)):
            places = [waiting.enter(client, characters, FAR, paced=True) for _ in range(15)]
            tasks += [asyncio.create_task(waiting.turn(place)) for place in places if not place.may_begin]
            await asyncio.sleep(0)
            assert delays[-1] == pytest.approx(due)
        for task in tasks:
            task.cancel()

    asyncio.run(scene())


def test_one_that_is_given_up_makes_room_and_keeps_nobody() -> None:
    async def scene() -> None:
        waiting = turns()
        places = bring(waiting, 6)
        tasks = [asyncio.create_task(waiting.turn(place)) for place in places[2:]]
        await asyncio.sleep(0.01)
        given_up, last = tasks[1], tasks[2]
        given_up.cancel()
        await asyncio.gather(given_up, return_exceptions=True)
        for place in places[:4]:
            waiting.leave(place)
        async with asyncio.timeout(5.0):
            await last
        tasks[3].cancel()

    asyncio.run(scene())
