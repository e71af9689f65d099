"""Syncs in processes of their own, which are killed or started at once. No test, but run by tests.

syncing.py killed STORE BUCKET BYTES SEED KILLS    sync again and again, each time killed once a random number of bytes
                                                   has arrived, which add up to less than the model's BYTES
syncing.py together STORE BUCKET START             when START exists, sync once; prints how many bytes were fetched
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

from model_store.local.store import Store
from model_store.remote.retry import Patience
from model_store.remote.s3 import S3Remote
from model_store.transfer.download import Pace
from model_store.transfer.pull import Synced, sync

RANGE_BYTES = 16 * 1024
PACE = Pace(workers=4, range_bytes=RANGE_BYTES, patience=Patience(limit_seconds=120.0))


def sync_once(store: Path, bucket: str, deadly_bytes: float = float("inf")) -> Synced:
    begun_bytes = 0

    def die_on_the_way(done_bytes: int, _total_bytes: int) -> None:
        nonlocal begun_bytes
        if threading.current_thread() is threading.main_thread():
            begun_bytes = done_bytes  # What an earlier sync left is counted before the workers start.
        elif done_bytes - begun_bytes >= deadly_bytes:
            os.kill(os.getpid(), signal.SIGKILL)

    return sync("documents", Store(store), S3Remote(bucket, "models", "path"), progress=die_on_the_way, pace=PACE)


def sync_killed(store: Path, bucket: str, size_bytes: int, seed: int, kills: int) -> None:
    chance = random.Random(seed)
    for _ in range(kills):
        deadly_bytes = chance.uniform(0, 1.5 * size_bytes / kills)
        child = os.fork()
        if child == 0:
            sync_once(store, bucket, deadly_bytes)
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def sync_together(store: Path, bucket: str, start: Path) -> None:
    deadline = time.monotonic() + 60
    while not start.exists() and time.monotonic() < deadline:
        time.sleep(0.001)
    print(sync_once(store, bucket).fetched_bytes)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["killed", store, bucket, *numbers]:
            sync_killed(Path(store), bucket, *map(int, numbers))
        case ["together", store, bucket, start]:
            sync_together(Path(store), bucket, Path(start))
