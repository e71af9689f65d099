"""Connections of a worker: their limits by the settings, and the requests that wait until their work begins."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace
from typing import Any

import pytest

from service.api.connection import connections
from service.api.connection.connections import QueuedStart, StartLimiter, connection_limits
from service.core.admission.head import STARTS_PER_TURN, AdmittedRequest
from service.settings import Settings


def test_the_settings_limits_are_a_workers_within_its_open_files() -> None:
    limits = connection_limits(Settings(max_connections=100, deadline_ms=5_000), 20_000)
    assert (limits.connections, limits.health_only_connections, limits.deadline_seconds) == (100, 25, 5.0)
    assert connection_limits(Settings(max_connections=4_096), 100).connections == 16


def test_a_single_body_always_fits() -> None:
    assert connection_limits(Settings(max_document_bytes=2**29), 20_000).held_bytes == 3 * 2**30


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


def queued(owner: Owner, app: object = "app", *, arrived: float = 10.0, disconnected: bool = False) -> QueuedStart:
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
    queued(owner, disconnected=disconnected).begin(now)
    assert owner.told == [told]


async def test_a_few_begin_in_each_turn_of_the_event_loop_until_none_waits() -> None:
    owner, starts = Owner(), StartLimiter()
    for number in range(3 * STARTS_PER_TURN + 1):
        starts.start(queued(owner, number, arrived=float("inf")))
    begun = [len(owner.told)]
    for _ in range(4):
        await asyncio.sleep(0)
        begun.append(len(owner.told))
    assert begun == [4, 8, 12, 13, 13]
    await asyncio.sleep(0.01)
    starts.start(queued(owner, "later", arrived=float("inf")))
    assert owner.told[-1] == "run later"


async def test_requests_wait_for_the_first_engine_and_begin_a_few_at_a_time() -> None:
    owner, state = Owner(), SimpleNamespace(starting=True)
    starts, now = StartLimiter(lambda: state.starting), time.monotonic()
    for number in range(2 * STARTS_PER_TURN):
        starts.start(queued(owner, number, arrived=now + 60.0))
    await asyncio.sleep(0.05)
    assert owner.told == []
    state.starting = False
    while len(owner.told) < 2 * STARTS_PER_TURN:
        await asyncio.sleep(0)
        assert len(owner.told) % STARTS_PER_TURN == 0
    assert owner.told == [f"run {number}" for number in range(2 * STARTS_PER_TURN)]


async def test_no_request_waits_for_an_engine_for_longer_than_half_its_time() -> None:
    owner, starts = Owner(), StartLimiter(lambda: True)
    starts.start(queued(owner, "patient", arrived=time.monotonic() + 60.0))
    starts.start(queued(owner, "urgent", arrived=time.monotonic() - 0.6))
    while not owner.told:
        await asyncio.sleep(0.01)
    assert owner.told == ["run urgent"]


async def test_requests_that_have_waited_long_enough_begin_without_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the first engine starts: else a crowd would be refused at the pace of the looks."""
    monkeypatch.setattr(connections, "LOOK_SECONDS", 0.5)
    owner, starts = Owner(), StartLimiter(lambda: True)
    for number in range(20 * STARTS_PER_TURN):
        starts.start(queued(owner, number, arrived=time.monotonic() - 0.6))
    async with asyncio.timeout(5.0):  # Half of what a look for each few would take.
        while len(owner.told) < 20 * STARTS_PER_TURN:
            await asyncio.sleep(0.01)
