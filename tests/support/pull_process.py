"""Pulls in processes that tests kill or start together. A script, not a test.

pull_process.py killed STORE BUCKET BYTES SEED KILLS    pull KILLS times, each time killed after a random number of
                                                        bytes, which add up to less than the model's BYTES
pull_process.py together STORE BUCKET START             when START exists, pull once; prints the bytes that were fetched
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
from model_store.remote.retry import RetryPolicy
from model_store.remote.s3 import S3Remote
from model_store.transfer.download import DownloadOptions
from model_store.transfer.pull import PullResult, pull

RANGE_BYTES = 16 * 1024
OPTIONS = DownloadOptions(workers=4, range_bytes=RANGE_BYTES, retry=RetryPolicy(limit_seconds=120.0))


def pull_once(store: Path, bucket: str, limit_bytes: float = float("inf")) -> PullResult:
    begun_bytes = 0

    def die_at_limit(done_bytes: int, _total_bytes: int) -> None:
        nonlocal begun_bytes
        if threading.current_thread() is threading.main_thread():
            begun_bytes = done_bytes  # Bytes of an earlier pull are counted before the workers start.
        elif done_bytes - begun_bytes >= limit_bytes:
            os.kill(os.getpid(), signal.SIGKILL)

    return pull("documents", Store(store), S3Remote(bucket, "models", "path"), progress=die_at_limit, options=OPTIONS)


def pull_killed(store: Path, bucket: str, size_bytes: int, seed: int, kills: int) -> None:
    chance = random.Random(seed)
    for _ in range(kills):
        limit_bytes = chance.uniform(0, 1.5 * size_bytes / kills)
        child = os.fork()
        if child == 0:
            pull_once(store, bucket, limit_bytes)
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def pull_together(store: Path, bucket: str, start: Path) -> None:
    deadline = time.monotonic() + 60
    while not start.exists() and time.monotonic() < deadline:
        time.sleep(0.001)
    print(pull_once(store, bucket).fetched_bytes)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["killed", store, bucket, *numbers]:
            pull_killed(Path(store), bucket, *map(int, numbers))
        case ["together", store, bucket, start]:
            pull_together(Path(store), bucket, Path(start))
