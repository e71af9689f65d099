"""Faults of processes: killed, stopped for a while, or all of them paused."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from random import Random

from loadtest.chaos.fault import ChaosFault
from loadtest.chaos.subject import Subject

SHORT_STOP_SECONDS = (0.2, 2.0)
LONG_STOP_SECONDS = 20.0
PAUSE_SECONDS = 3.0


def _send(processes: Sequence[int], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, number)


def _one(processes: Sequence[int], draw: Random) -> list[int]:
    return [draw.choice(processes)] if processes else []


async def _stop_for(processes: Sequence[int], seconds: float) -> None:
    _send(processes, signal.SIGSTOP)
    try:
        await asyncio.sleep(seconds)
    finally:
        _send(processes, signal.SIGCONT)


async def _kill_engine(subject: Subject, _draw: Random) -> None:
    _send(subject.parts.engines(), signal.SIGKILL)


async def _kill_worker(subject: Subject, draw: Random) -> None:
    _send(_one(subject.parts.workers(), draw), signal.SIGKILL)


async def _kill_parser(subject: Subject, draw: Random) -> None:
    _send(_one(subject.parts.parsers(), draw), signal.SIGKILL)


async def _stop_engine(subject: Subject, draw: Random) -> None:
    await _stop_for(subject.parts.engines(), draw.uniform(*SHORT_STOP_SECONDS))


async def _hang_engine(subject: Subject, _draw: Random) -> None:
    await _stop_for(subject.parts.engines(), LONG_STOP_SECONDS)


async def _stop_worker(subject: Subject, draw: Random) -> None:
    await _stop_for(_one(subject.parts.workers(), draw), draw.uniform(*SHORT_STOP_SECONDS))


async def _pause(subject: Subject, _draw: Random) -> None:
    await _stop_for(subject.parts.all(), PAUSE_SECONDS)


PROCESS_FAULTS = (
    ChaosFault("engine killed", _kill_engine, kills_engine=True),
    ChaosFault("worker killed", _kill_worker, loses=True),
    ChaosFault("parser killed", _kill_parser, weight=2.0),
    ChaosFault("engine stopped for a moment", _stop_engine),
    ChaosFault("engine stopped for 20 s", _hang_engine, weight=0.3, kills_engine=True),
    ChaosFault("worker stopped for a moment", _stop_worker),
    ChaosFault("everything paused for 3 s", _pause, weight=0.5),
)
