"""Room beside a service: by its phase and its backlog, with few looks however many wait."""

from __future__ import annotations

import asyncio

import pytest

from service.bulk.own_service import LOOK_SECONDS, ROOM_SECONDS, Room, has_room
from service.signals.points import Snapshot

READY = ("gleaner_phase", (("phase", "ready"),))
BACKLOG = ("gleaner_backlog_seconds", ())


@pytest.mark.parametrize(
    ("values", "room"),
    [
        ({READY: 1.0, BACKLOG: 0.0}, True),
        ({READY: 1.0}, True),
        ({READY: 1.0, BACKLOG: ROOM_SECONDS}, False),
        ({READY: 0.0, BACKLOG: 0.0}, False),
        ({}, False),
    ],
)
def test_there_is_room_while_a_ready_engine_has_little_to_do(values: dict, room: bool) -> None:  # type: ignore[type-arg]
    assert has_room(Snapshot(0.0, 0.0, values)) is room


async def test_many_wait_with_few_looks() -> None:
    looks = iter([False, True, False])
    seen = list[bool]()

    def look() -> bool:
        seen.append(next(looks))
        return seen[-1]

    async with asyncio.timeout(60 * LOOK_SECONDS):
        room = Room(look)
        await asyncio.gather(*(room.wait() for _ in range(50)))
    assert seen == [False, True]
