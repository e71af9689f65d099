"""Pulls that are killed, and concurrent pulls into one store; bytes are counted by a proxy."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from model_store.local.store import Revision, Store
from model_store.local.verify import verify_store
from model_store.transfer.publish import publish
from model_store.transfer.pull import pull
from model_store.transfer.push import push
from tests.support.model_folders import write_model
from tests.support.pull_process import OPTIONS, RANGE_BYTES
from tests.support.s3_buckets import Bucket
from tests.support.stores import assert_intact

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tests" / "support" / "pull_process.py"
KILLS = 20


@pytest.fixture
def published(bucket: Bucket, tmp_path: Path) -> Revision:
    """A model of 8 MB in 16 shards in the bucket."""
    noise = random.Random(1)
    shards = {f"model-{number:02}.safetensors": noise.randbytes(500_000) for number in range(16)}
    publisher = Store(tmp_path / "publisher")
    revision = publish(write_model(tmp_path / "model", shards), "documents", publisher, tag=None).revision
    push(revision, publisher, bucket.remote(), tag="stable")
    return revision


def start(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)


def output(process: subprocess.Popen[str]) -> list[int]:
    printed, _ = process.communicate(timeout=250)
    assert process.returncode == 0
    return [int(line) for line in printed.splitlines()]


def test_a_pull_killed_at_random_moments_fetches_no_range_twice(
    bucket: Bucket, store: Store, published: Revision
) -> None:
    size_bytes = published.manifest.size_bytes
    codes = output(start("killed", store.root, bucket.name, size_bytes, 7, KILLS))
    assert codes == [-signal.SIGKILL] * KILLS
    assert_intact(store)
    assert store.revisions() == ()
    pulled = pull("documents", store, bucket.remote(), options=OPTIONS)
    assert pulled.revision.revision == published.revision
    assert verify_store(store).intact
    # Each kill loses at most the ranges in progress, and costs one reading of tag and manifest.
    assert bucket.proxy.sent_bytes < size_bytes + KILLS * (OPTIONS.workers * RANGE_BYTES + 5_000)


def test_concurrent_pulls_download_everything_once(
    bucket: Bucket, store: Store, published: Revision, tmp_path: Path
) -> None:
    processes = [start("together", store.root, bucket.name, tmp_path / "start") for _ in range(3)]
    (tmp_path / "start").touch()
    fetched = sorted(output(process)[0] for process in processes)
    assert fetched == [0, 0, published.manifest.size_bytes]
    assert bucket.proxy.sent_bytes < published.manifest.size_bytes + 50_000
    assert verify_store(store).intact
