"""What a host does to a service: signals to its processes, disks without a byte left (H3, H6, M3)."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress

from loadtest.bench.attacks.attack import Attack
from loadtest.bench.attacks.target import Target
from loadtest.service_process.small_disk import fill

STUCK_SECONDS = 5.0
TWO_WORKERS = {"WORKERS": 2}


async def _stop_engine(target: Target, end: float) -> None:
    """Stopped, and not continued: who watches it has to kill it."""
    _send(target.parts.engines(), signal.SIGSTOP)
    await _wait(end)


async def _kill_engine(target: Target, end: float) -> None:
    _send(target.parts.engines(), signal.SIGKILL)
    await _wait(end)


async def _stick_worker(target: Target, end: float) -> None:
    """One of two workers is stopped for some seconds, as by a fault that holds it."""
    one = target.parts.workers()[:1]
    _send(one, signal.SIGSTOP)
    await asyncio.sleep(STUCK_SECONDS)
    _send(one, signal.SIGCONT)
    await _wait(end)


async def _kill_worker(target: Target, end: float) -> None:
    """Its open requests are lost with it; no other is."""
    _send(target.parts.workers()[:1], signal.SIGKILL)
    await _wait(end)


async def _fill_disk(target: Target, end: float) -> None:
    """Filled again and again, so that nothing that is deleted meanwhile gives room for long."""
    assert target.disk is not None
    for number in range(10**6):
        await asyncio.to_thread(fill, target.disk / f"full-{number}")
        target.answers["times filled"] += 1
        if time.monotonic() > end - 1.0:
            break
        await asyncio.sleep(1.0)


async def _wait(end: float) -> None:
    await asyncio.sleep(max(0.0, end - time.monotonic()))


def _send(processes: Sequence[int], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, number)


ATTACKS = (
    Attack("the engine is stopped for good", "H3", _stop_engine, seconds=40.0),
    Attack("the engine is killed", "M3", _kill_engine),
    Attack("one of two workers is stuck for 5 s", "H3", _stick_worker, TWO_WORKERS),
    Attack("one of two workers is killed", "M3", _kill_worker, TWO_WORKERS),
    Attack("no byte left in the temporary folder", "H6", _fill_disk, disk_variables=("TMPDIR",), neighbour_sends="pdf"),
    Attack("no byte left in the runtime folder", "H6", _fill_disk, disk_variables=("GLEANER_RUNTIME_DIR",)),
)
