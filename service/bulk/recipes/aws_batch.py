"""AWS Batch, an array job: child N answers shard N of the objects into OUT/N, as `gleaner bulk` does on one machine.

    aws batch submit-job --job-name july --job-queue gpus --job-definition gleaner --array-properties size=8 \\
        --retry-strategy attempts=5 --container-overrides \\
        'command=python,-m,service.bulk.recipes.aws_batch,s3://in/2026/,s3://out/july/'

Batch starts a child again that ends with an error, or with its Spot instance: the same command goes on, and what is
answered stands. An object's shard follows from its key, so new objects move no others. GLEANER_MODELS in the job's
definition pins the revision, `documents@sha256:…`. Batch cannot replace an image's entry point, which is
`gleaner serve`: derive an image by `FROM gleaner` and `ENTRYPOINT []`.

Each child pays for image, engine and model, two to four minutes on a cold machine: give it an hour of work. Where a
fleet runs, `gleaner bulk start` begins at once, and a slow machine holds up nobody.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

from service.bulk import finish, job
from service.bulk.chunk_worker import ChunkWorker, InFlight
from service.bulk.run import BulkRun
from service.bulk.s3 import S3Inputs, S3Storage, place_of
from service.core.bulk import BulkJob, Item
from service.local_service import UNHURRIED, LocalService

INDEX, SIZE = (int(os.environ[f"AWS_BATCH_JOB_ARRAY_{name}"]) for name in ("INDEX", "SIZE"))
OPTIONS = {"fields": True}


class Shard(S3Inputs):
    """The objects of this child."""

    def items(self) -> Iterator[Item]:
        return (item for item in super().items() if crc32(item.key.encode()) % SIZE == INDEX)


async def main(source: str, target: str) -> None:
    shard, storage = Shard(source), S3Storage(place_of(f"{target.rstrip('/')}/{INDEX}"))
    async with LocalService({**OPTIONS, "priority": "batch"}, print, UNHURRIED) as service:
        begun = job.begin(storage, job.JobRecord(BulkJob(await service.revision(), OPTIONS), None, shard.names)).job
        service.pin(begun.model)
        in_flight = InFlight()
        worker = ChunkWorker(shard, lambda name, data: service.extract(Path(name), data), begun, in_flight)
        await BulkRun(storage, begun, shard, worker, in_flight).run()
    finish.finish(storage)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
