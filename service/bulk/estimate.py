"""Estimate of a bulk job before it is started: its files by listing them, their cost by asking a service for some."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from service.bulk.chunk_worker import Ask
from service.bulk.storage import Inputs
from service.core.bulk import Item
from service.core.errors import GleanerError

AT_ONCE = 32
"""Files of the sample that are asked for at a time, as a worker would."""


@dataclass(slots=True)
class ListedFiles:
    """What a listing holds, and some of it, each file as likely as any other."""

    files: int = 0
    bytes: int = 0
    sample: list[Item] = field(default_factory=list)


def listed(items: Iterable[Item], sample: int, chance: random.Random) -> ListedFiles:
    """Go through a listing, which is not held in memory."""
    found = ListedFiles()
    for item in items:
        found.files += 1
        found.bytes += item.size_bytes
        if len(found.sample) < sample:
            found.sample.append(item)
        elif (place := chance.randrange(found.files)) < sample:
            found.sample[place] = item
    return found


@dataclass(slots=True)
class SampleCosts:
    """What the files of a sample took.

    Attributes:
        seconds: of the service, for all of them.
        scans: files with pages whose text was recognized.
    """

    files: int = 0
    seconds: float = 0.0
    pages: int = 0
    tokens: int = 0
    scans: int = 0
    errors: Counter[str] = field(default_factory=Counter)


async def measured(inputs: Inputs, items: Iterable[Item], ask: Ask) -> SampleCosts:
    """Have a sample answered, several files at a time."""
    found, left = SampleCosts(), iter(items)
    begun = time.monotonic()
    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(_answer_some(inputs, left, ask, found))
    found.seconds = time.monotonic() - begun
    return found


async def _answer_some(inputs: Inputs, left: Iterator[Item], ask: Ask, found: SampleCosts) -> None:
    for item in left:
        found.files += 1
        try:
            content = await asyncio.to_thread(inputs.read, item)
            document = await ask(content.name, content.data)
        except GleanerError as error:
            found.errors[error.code] += 1
            continue
        found.pages += document.get("pages") or 0
        found.tokens += document.get("tokens") or 0
        found.scans += bool(document.get("ocr_pages"))
