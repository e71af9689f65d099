"""A fleet's bulk jobs in tests: a job over a moto server's buckets, and a service that answers as told."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from service.bulk import job as jobs
from service.bulk.fleet_job import FleetJob
from service.bulk.fleet_worker import BulkWorker
from service.bulk.job import FleetTerms, JobRecord
from service.bulk.s3 import S3Inputs, S3Storage, place_of
from service.bulk.sqs import SqsQueue
from service.core.bulk import BulkJob
from service.core.errors import GleanerError
from tests.support.bulk_cloud import BulkCloud

MODEL = "documents@sha256:ab"


def begun(cloud: BulkCloud, name: str = "job", **terms: Any) -> tuple[FleetJob, S3Inputs]:
    """A job that `start` has begun, for all objects below `in/`."""
    inputs = S3Inputs(f"s3://{cloud.source}/in/")
    fleet = FleetTerms(cloud.queue, notify=cloud.topic, **terms)
    record = JobRecord(BulkJob(MODEL, {"fields": True}), "documents", inputs.names, fleet)
    jobs.begin(S3Storage(place_of(cloud.output(name))), record)
    return FleetJob(cloud.output(name)), inputs


@dataclass
class EchoService:
    """Answers each document; one in `errors` with what is listed there, None is an answer, the last for ever."""

    errors: dict[bytes, list[GleanerError | None]] = field(default_factory=dict)
    models: set[str] = field(default_factory=lambda: {MODEL})
    asked: Counter[bytes] = field(default_factory=Counter)
    options: list[dict[str, Any]] = field(default_factory=list)

    async def ask(self, options: dict[str, Any], name: str, data: bytes | str) -> dict[str, Any]:
        assert isinstance(data, bytes), "an object"
        self.options.append(options)
        self.asked[data] += 1
        said = self.errors.get(data, [None])
        if (error := said.pop(0) if len(said) > 1 else said[0]) is not None:
            raise error
        return {"id": name, "entities": [], "characters": len(data), "error": None}

    async def serves(self, model: str) -> bool:
        return model in self.models


async def always() -> None:
    """There is room."""


@asynccontextmanager
async def working(cloud: BulkCloud, service: EchoService, **options: Any) -> Any:
    """A worker as long as the context lasts."""
    quick = {"lease_seconds": 60, "again_seconds": 1, "poll_seconds": 1}
    made = BulkWorker(SqsQueue(cloud.queue), service, always, **{**quick, **options})
    task = asyncio.create_task(made.run())
    try:
        yield made
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait for a condition that is looked at in a thread."""
    async with asyncio.timeout(seconds):
        while not await asyncio.to_thread(holds):
            await asyncio.sleep(0.05)


def rows(cloud: BulkCloud, name: str = "job") -> list[dict[str, Any]]:
    """All rows of all parts, by key."""
    found = cloud.objects(cloud.target, f"{name}/parts/").values()
    return sorted((json.loads(line) for part in found for line in part.splitlines()), key=lambda row: str(row["key"]))
