"""Ray Data: `python -m service.bulk.recipes.ray_data IN OUT`; called again after any end, it goes on.

    pip install 'ray[data]'    # 520 MB; Ray and the engine are up after 15 to 30 s

A file is answered by a row, also a bad one. The checkpoint is written before a block's Parquet file and counts once
that is whole (`CheckpointConfig`, a beta interface of Ray 2.60), so no row is lost or doubled by `kill -9`. It is kept
at the end: a call without new files then adds nothing.

What hangs:
- A run that goes on, where all declared CPUs are taken: the checkpoint's filter is an actor that needs one of its own,
  beside ours and the readers. CPUS is at least 4 therefore, also on a machine with two, which Ray lets one say.
  (On a cluster: `ray.init()` without a number.)
- A file that ends the actor itself: Ray tries its block again for ever. The engine and the parsers are processes of
  their own, over whose death a file gets its row; `max_restarts` and `max_task_retries` bound what is left.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import ray
from ray.data.checkpoint import CheckpointConfig

from service.bulk.extractor import BulkExtractor

CPUS = max(4, os.cpu_count() or 1)
RETRIES = {"max_restarts": 3, "max_task_retries": 3}


class Answers:
    """One engine for each actor. The column `path` stays, because it is the checkpoint's."""

    def __init__(self) -> None:
        self._extractor = BulkExtractor(fields=True)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        return {"path": batch["path"], **self._extractor(batch)}


def main(source: str, target: str) -> None:
    ray.init(num_cpus=CPUS, include_dashboard=False)
    context = ray.data.DataContext.get_current()
    checkpoint = f"{target.rstrip('/')}.checkpoint"
    context.checkpoint_config = CheckpointConfig("path", checkpoint, delete_checkpoint_on_success=False)
    files = ray.data.read_binary_files(source, include_paths=True)
    one = ray.data.ActorPoolStrategy(size=1)
    files.map_batches(Answers, batch_size=32, compute=one, num_cpus=1, **RETRIES).write_parquet(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
