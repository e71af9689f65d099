"""Estimate of a bulk job before it is started: its files by a listing, their cost by a sample's answers."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from service.bulk.chunk_worker import Ask, ChunkWorker, InFlight
from service.bulk.storage import Inputs
from service.core.bulk import BulkJob, Chunk, Item

PATIENCE_SECONDS = 60.0
"""Seconds for which a file of the sample is tried again after errors that are not its own."""


@dataclass(slots=True)
class ListedFiles:
    """The size of a listing, and a sample of its files, all equally likely."""

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
    """Time and answers of a sample's files.

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
    """Have a sample answered, as a job would.

    Raises:
        NotFinished: the service refused a file for too long.
        GleanerError: no file can be answered.
    """
    found, begun = SampleCosts(), time.monotonic()
    worker = ChunkWorker(inputs, ask, BulkJob("", {}), InFlight(), patience_seconds=PATIENCE_SECONDS)
    for row in await worker.rows(Chunk(tuple(items))):
        found.files += 1
        if row["error"] is not None:
            found.errors[row["error"]["code"]] += 1
            continue
        document = row["document"]
        found.pages += document.get("pages") or 0
        found.tokens += document.get("tokens") or 0
        found.scans += bool(document.get("ocr_pages"))
    found.seconds = time.monotonic() - begun
    return found
