"""Faults of what a service stands on: its disk, its model store, its keys."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random

from loadtest.chaos.fault import ChaosFault
from loadtest.chaos.subject import Subject
from loadtest.service_process.small_disk import fill

FULL_SECONDS = 3.0
BAD_KEYS_SECONDS = 3.0


def disk_fault(folder: Path) -> ChaosFault:
    """No byte is left on the disk of this folder, for a while."""
    return ChaosFault("uploads' disk full for 3 s", partial(_fill_disk, folder))


async def _fill_disk(folder: Path, _subject: Subject, _draw: Random) -> None:
    file = folder / "full"
    try:
        fill(file)
        await asyncio.sleep(FULL_SECONDS)
    finally:
        with suppress(FileNotFoundError):
            file.unlink()


async def _publish(subject: Subject, _draw: Random) -> None:
    await asyncio.to_thread(subject.publish)


async def _spoil_keys(subject: Subject, _draw: Random) -> None:
    """The keys file is no keys file for a while."""
    file = subject.service.home / "keys"
    good = file.read_text()
    try:
        file.write_text("what is this\n")
        await asyncio.sleep(BAD_KEYS_SECONDS)
    finally:
        file.write_text(good)


RESOURCE_FAULTS = (ChaosFault("new revision", _publish), ChaosFault("spoilt keys file for 3 s", _spoil_keys))
