"""What becomes of a request when its turn comes, and that turns come for as long as anybody waits."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from service.api.connection.turns import QueuedStart, Turns
from service.core.admission.head import STARTS_PER_TURN, AdmittedRequest


class Owner:
    """A connection that notes what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def run(self, _cycle: Any, app: Any) -> None:
        self.told.append(f"run {app}")

    def refuse_late(self, _cycle: Any) -> None:
        self.told.append("refuse late")

    def forget(self, _cycle: Any) -> None:
        self.told.append("forget")


def turn(owner: Owner, app: object = "app", *, arrived: float = 10.0, disconnected: bool = False) -> QueuedStart:
    cycle: Any = SimpleNamespace(disconnected=disconnected)
    return QueuedStart(owner, cycle, app, AdmittedRequest((0, 0), 1.0, arrived))


@pytest.mark.parametrize(
    ("now", "disconnected", "told"),
    [
        (10.9, False, "run app"),
        (11.0, False, "refuse late"),
        (10.9, True, "forget"),
        (11.0, True, "forget"),
    ],
)
def test_work_begins_unless_its_client_is_gone_or_its_deadline(now: float, disconnected: bool, told: str) -> None:
    owner = Owner()
    turn(owner, disconnected=disconnected).begin(now)
    assert owner.told == [told]


def test_a_few_begin_in_each_turn_of_the_event_loop_until_none_waits() -> None:
    async def scene() -> None:
        owner, turns = Owner(), Turns()
        for number in range(2 * STARTS_PER_TURN + 1):
            turns.wait(turn(owner, number, arrived=float("inf")))
        begun = []
        for _ in range(4):
            await asyncio.sleep(0)
            begun.append(len(owner.told))
        assert begun == [STARTS_PER_TURN, 2 * STARTS_PER_TURN, 2 * STARTS_PER_TURN + 1, 2 * STARTS_PER_TURN + 1]
        turns.wait(turn(owner, "later", arrived=float("inf")))
        await asyncio.sleep(0)
        assert owner.told[-1] == "run later"

    asyncio.run(scene())
