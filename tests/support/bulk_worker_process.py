"""A bulk worker for chaos tests, as a process: `python -m tests.support.bulk_worker_process QUEUE SERVICE LEASE SEED`.

Some of its messages are not deleted, as if the call or its answer were lost, and a file may end the process.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
from pathlib import Path
from typing import Any

from service.bulk.fleet_worker import BulkWorker
from service.bulk.sqs import Message, QueueError, SqsQueue
from service.process import die_with_parent
from service.remote_service import RemoteService
from tests.support.bulk_fleet import always

KILLS = b"This file ends whoever reads it."
LOST = 0.2
"""Share of the deletions that never arrive, and again of those whose answer is lost."""


class LossyQueue(SqsQueue):
    """A queue over a network that loses things."""

    def __init__(self, url: str, chance: random.Random) -> None:
        super().__init__(url)
        self._chance = chance

    def delete(self, message: Message) -> None:
        fate = self._chance.random()
        if fate >= LOST:
            super().delete(message)
        if fate < 2 * LOST:
            raise QueueError("lost")


class DeadlyService:
    """A service by its URL; one file ends this process."""

    def __init__(self, url: str) -> None:
        self._service = RemoteService(url, {})

    async def ask(self, options: dict[str, Any], name: str, data: bytes | str) -> dict[str, Any]:
        if data == KILLS:
            os._exit(9)
        self._service.options = options
        return await self._service.extract(Path(name), data)

    async def serves(self, _model: str) -> bool:
        return True


async def _work(queue: str, url: str, lease_seconds: int, seed: int) -> None:
    lossy = LossyQueue(queue, random.Random(seed))
    made = BulkWorker(lossy, DeadlyService(url), always, lease_seconds=lease_seconds, again_seconds=1, poll_seconds=1)
    await made.run()


if __name__ == "__main__":
    die_with_parent()
    asyncio.run(_work(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
