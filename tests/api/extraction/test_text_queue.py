"""Text queue: texts that wait to be tokenized, and clients that share the event loop."""

from __future__ import annotations

import asyncio
import math
import socket
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
import uvloop

from service.api.extraction.text_queue import MOST_PIECES, SLICE_SECONDS, TimeSlicer, TokenizationThrottle
from service.core.admission.pacing import (
    AHEAD_SECONDS,
    FEW_TOKENS,
    PacingTicket,
)
from service.core.admission.policy import QueueState

SPEED = 1_000.0
CHARACTERS = int(AHEAD_SECONDS * SPEED / FEW_TOKENS)
"""Characters of a text that keeps the device busy for as long as a client may be ahead."""
FAR = 1e9


def turns(speed: float = SPEED) -> TokenizationThrottle:
    return TokenizationThrottle(lambda: QueueState(speed or math.inf, limit_tokens=10**9))


def bring(waiting: TokenizationThrottle, count: int) -> list[PacingTicket]:
    return [waiting.enter("c", CHARACTERS, FAR, paced=True) for _ in range(count)]


async def test_a_text_waits_until_one_before_it_is_over() -> None:
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


def test_or_until_its_time_has_come() -> None:
    async def scene() -> float:
        waiting = turns(speed=100 * SPEED)
        places = [waiting.enter("c", 10 * CHARACTERS, FAR, paced=True) for _ in range(15)]
        begun = time.monotonic()
        async with asyncio.timeout(10.0):
            await asyncio.gather(*map(waiting.turn, places))
        return time.monotonic() - begun

    assert asyncio.run(scene()) >= 0.1


async def test_a_client_whose_texts_are_long_delays_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next look is due with the earliest text of all clients, also if one that is due later was there before."""
    delays: list[float] = []
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


async def test_one_that_is_given_up_makes_room_and_keeps_nobody() -> None:
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


MANY = 200


class Clock:
    """A clock that only the pieces of work advance."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class Batch:
    """Pieces of work that record their order, each of which takes a share of a slice."""

    def __init__(self, *, share_of_a_slice: float = 0.4) -> None:
        self._clock = Clock()
        self._share = share_of_a_slice
        self.time_slicer = TimeSlicer(self._clock)
        self.done: list[int] = []

    def begin(self, numbers: range) -> list[asyncio.Task[int]]:
        return [asyncio.create_task(self.time_slicer.run(partial(self.piece, number))) for number in numbers]

    def piece(self, number: int) -> int:
        self._clock.seconds += self._share * SLICE_SECONDS
        self.done.append(number)
        return number


@pytest.fixture(params=[asyncio.run, uvloop.run])
def runner(request: pytest.FixtureRequest) -> Any:
    """Both kinds of event loop that the service runs on: gunicorn's workers take the second."""
    return request.param


both_loops = pytest.mark.usefixtures("runner")


@both_loops
async def test_each_piece_is_done_in_order_and_its_result_is_its_caller_s() -> None:
    batch = Batch()
    assert await asyncio.gather(*batch.begin(range(MANY))) == list(range(MANY)) == batch.done


@pytest.mark.parametrize(("share", "pieces"), [(0.4, 3), (0.15, 7), (30.0, 1)])
@both_loops
async def test_a_go_ends_with_the_piece_that_fills_it(share: float, pieces: int) -> None:
    batch = Batch(share_of_a_slice=share)
    callers = batch.begin(range(MANY))
    while not callers[-1].done():
        before = len(batch.done)
        await asyncio.sleep(0)
        assert len(batch.done) - before <= pieces
    assert len(batch.done) == MANY


@both_loops
async def test_a_go_ends_after_some_pieces_however_short_they_are() -> None:
    """What their callers do next takes time as well."""
    time_slicer, gone_on = TimeSlicer(Clock()), list[int]()

    async def caller(number: int) -> None:
        await time_slicer.turn("batch")
        gone_on.append(number)

    callers = [asyncio.create_task(caller(number)) for number in range(MANY)]
    while len(gone_on) < MANY:
        before = len(gone_on)
        await asyncio.sleep(0)
        assert len(gone_on) - before <= MOST_PIECES
    await asyncio.gather(*callers)
    assert gone_on == list(range(MANY))


@both_loops
async def test_queues_take_turns_and_each_is_in_order() -> None:
    batch = Batch()
    work = [("many", number) for number in range(MANY)] + [("few", -1), ("few", -2), ("one", -3)]
    pieces = [batch.time_slicer.run(partial(batch.piece, number), queue) for queue, number in work]
    await asyncio.gather(*pieces)
    assert batch.done == [0, -1, -3, 1, -2, *range(2, MANY)]


@both_loops
async def test_a_piece_is_done_at_once_where_nothing_waits_and_there_is_room() -> None:
    batch = Batch(share_of_a_slice=0.6)

    async def at_once(number: int) -> None:
        await batch.time_slicer.run(partial(batch.piece, number), at_once=True)

    callers = [asyncio.create_task(at_once(number)) for number in range(6)]
    await asyncio.sleep(0)
    assert len(batch.done) <= 4, "two at once, and two of the slice that comes after them"
    await asyncio.gather(*callers)
    assert batch.done == list(range(6))
    waits = batch.begin(range(6, 8))
    await asyncio.sleep(0)
    await at_once(8)
    assert batch.done == list(range(9))
    await asyncio.gather(*waits)


@both_loops
async def test_a_piece_at_once_raises_what_it_does() -> None:
    with pytest.raises(ZeroDivisionError):
        await TimeSlicer().run(lambda: 1 // 0, at_once=True)


@both_loops
async def test_a_task_that_is_ready_goes_on_between_two_goes() -> None:
    batch = Batch()
    callers = batch.begin(range(MANY))
    lone = asyncio.create_task(asyncio.sleep(0))
    await lone
    assert len(batch.done) < MANY / 10
    await asyncio.gather(*callers)


@both_loops
async def test_a_timer_and_a_socket_are_served_between_the_pieces_of_a_batch() -> None:
    """With pieces of real time, since a loop polls timers and sockets only between its iterations."""
    time_slicer, done, served = TimeSlicer(), [0], dict[str, int]()

    def piece() -> None:
        end = time.monotonic() + SLICE_SECONDS / 2
        while time.monotonic() < end:
            pass
        done[0] += 1

    def serve(what: str) -> None:
        served.setdefault(what, done[0])

    loop = asyncio.get_running_loop()
    here, there = socket.socketpair()
    with here, there:
        here.setblocking(False)
        loop.add_reader(here, serve, "socket")
        loop.call_later(10 * SLICE_SECONDS, serve, "timer")
        loop.call_later(10 * SLICE_SECONDS, there.send, b"!")
        await asyncio.gather(*(time_slicer.run(piece) for _ in range(MANY)))
        loop.remove_reader(here)
    assert set(served) == {"timer", "socket"}
    assert max(served.values()) < MANY


@both_loops
async def test_what_a_piece_raises_is_its_own_caller_s() -> None:
    batch = Batch()
    before = batch.begin(range(1))
    failing = asyncio.create_task(batch.time_slicer.run(lambda: 1 // 0))
    after = batch.begin(range(1, 3))
    with pytest.raises(ZeroDivisionError):
        await failing
    assert await asyncio.gather(*before, *after) == [0, 1, 2]


async def test_an_error_that_no_future_accepts_does_not_stop_the_queue() -> None:
    def stop() -> None:
        raise StopIteration

    batch = Batch()
    told: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: told.append(context["exception"]))
    lost = asyncio.create_task(batch.time_slicer.run(stop))
    await asyncio.sleep(0)
    assert await _soon(batch.time_slicer.run(lambda: "next")) == "next"
    lost.cancel()
    assert [type(each) for each in told] == [TypeError]


@pytest.mark.parametrize("gone", [range(1), range(50, 150), range(MANY - 1, MANY), range(MANY)])
@both_loops
async def test_work_of_cancelled_callers_is_skipped(gone: range) -> None:
    batch = Batch()
    callers = batch.begin(range(MANY))
    await asyncio.sleep(0)
    assert not batch.done
    for number in gone:
        callers[number].cancel()
    await asyncio.gather(*callers, return_exceptions=True)
    assert batch.done == [number for number in range(MANY) if number not in gone]
    assert await _soon(batch.time_slicer.run(lambda: "next")) == "next"


@both_loops
async def test_work_whose_deadline_passes_is_skipped() -> None:
    batch = Batch()
    callers = batch.begin(range(MANY))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await batch.time_slicer.run(partial(batch.piece, -1))
    await asyncio.gather(*callers)
    assert batch.done == list(range(MANY))
    assert await _soon(batch.time_slicer.run(lambda: "next")) == "next"


async def _soon(awaited: Awaitable[str]) -> str:
    """Fails rather than hangs if a turn got stuck."""
    return await asyncio.wait_for(awaited, 10)
