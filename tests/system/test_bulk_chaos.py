"""Three workers of a bulk queue that are killed at random: one row for each file, and the bytes of a calm run."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from service.bulk import finish
from service.bulk.dispatch import give_up, retry, start, status
from tests.support.bulk_cloud import BulkCloud, bulk_cloud, moto_server
from tests.support.bulk_endpoint import POISON, bulk_endpoint
from tests.support.bulk_fleet import begun, rows
from tests.support.bulk_worker_process import KILLS
from tests.support.service import wait_until
from tests.support.source_tree import ROOT

WORKERS, KILL_COUNT, LEASE_SECONDS = 3, 20, 2
FILES, CHUNK_FILES, FILE_SECONDS = 240, 6, 0.1
DEAD_SECONDS = 2.0
PATIENT_SECONDS = 240.0


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[BulkCloud]:
    with moto_server() as url, bulk_cloud(url, monkeypatch, lease_seconds=LEASE_SECONDS) as made:
        yield made


class Workers:
    """Workers of one queue that are started again when they have died."""

    def __init__(self, cloud: BulkCloud, url: str, seed: int) -> None:
        self._arguments = [cloud.queue, url, str(LEASE_SECONDS)]
        self._chance = random.Random(seed)
        self._processes = [self._start() for _ in range(WORKERS)]
        self.deaths = 0

    def kill_one(self) -> None:
        """SIGKILL to one by chance."""
        victim = self._chance.choice(self._processes)
        victim.kill()
        victim.wait()

    def keep(self) -> None:
        """Start those again that have died."""
        for number, process in enumerate(self._processes):
            if process.poll() is not None:
                self.deaths += 1
                self._processes[number] = self._start()

    def end(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()

    def _start(self) -> subprocess.Popen[bytes]:
        seed = str(self._chance.randrange(1 << 30))
        command = [sys.executable, "-m", "tests.support.bulk_worker_process", *self._arguments, seed]
        return subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})


@contextmanager
def workers(cloud: BulkCloud, url: str, seed: int = 7) -> Iterator[Workers]:
    made = Workers(cloud, url, seed)
    try:
        yield made
    finally:
        made.end()


def _files() -> dict[str, bytes]:
    good = {f"in/{number:04}.txt": b"text %d" % number for number in range(FILES)}
    return good | {f"in/{number}-poison.txt": POISON + b" %d" % number for number in range(3)}


def _parts(cloud: BulkCloud, name: str) -> dict[str, bytes]:
    found = cloud.objects(cloud.target, f"{name}/parts/")
    return {key.removeprefix(f"{name}/"): data for key, data in found.items()}


def _is_done(cloud: BulkCloud, name: str) -> bool:
    return bool(cloud.objects(cloud.target, f"{name}/_SUCCESS"))


def test_twenty_kills_leave_the_bytes_of_a_calm_run(cloud: BulkCloud) -> None:
    attributes = {"RedrivePolicy": ""}  # A chunk may be met by many of the kills; here none is to become a dead letter.
    cloud.sqs.set_queue_attributes(QueueUrl=cloud.queue, Attributes=attributes)
    cloud.put(_files())
    with bulk_endpoint(0.0) as (url, _), workers(cloud, url):
        start(*begun(cloud, "calm", chunk_files=CHUNK_FILES))
        wait_until(lambda: _is_done(cloud, "calm"), PATIENT_SECONDS)
        wait_until(lambda: not cloud.waiting(cloud.queue), PATIENT_SECONDS)
    job, inputs = begun(cloud, "chaos", chunk_files=CHUNK_FILES)
    with bulk_endpoint(FILE_SECONDS) as (url, endpoint), workers(cloud, url) as some:
        start(job, inputs)
        chance = random.Random(11)
        for kill in range(KILL_COUNT):
            time.sleep(chance.uniform(0.3, 1.5))
            some.kill_one()
            some.keep()
            if kill == KILL_COUNT // 3:
                endpoint.dead_until = time.monotonic() + DEAD_SECONDS
            if kill == KILL_COUNT // 2:
                assert start(job, inputs).sent, "each chunk without a part is in the queue twice now"
        assert some.deaths == KILL_COUNT
        assert not _is_done(cloud, "chaos"), "the kills came while there was work"
        wait_until(lambda: _is_done(cloud, "chaos"), PATIENT_SECONDS)
        wait_until(lambda: not cloud.waiting(cloud.queue), PATIENT_SECONDS)
    assert [row["key"] for row in rows(cloud, "chaos")] == sorted(_files())
    assert {row["error"]["code"] for row in rows(cloud, "chaos") if row["error"]} == {"poison_document"}
    assert _parts(cloud, "chaos") == _parts(cloud, "calm")
    assert endpoint.asked >= len(_files())
    assert len(cloud.notifications()) == 2


def test_a_file_that_kills_workers_is_found_among_its_neighbours(cloud: BulkCloud) -> None:
    cloud.put({f"in/{number}.txt": b"text %d" % number for number in range(9)} | {"in/deadly.txt": KILLS})
    job, inputs = begun(cloud, chunk_files=5)
    start(job, inputs)
    with bulk_endpoint(0.0) as (url, _), workers(cloud, url) as some:

        def deadly() -> list[list[str]]:
            some.keep()
            return [[item.key for item in each.chunk.items] for each in status(job, time.time()).dead]

        wait_until(lambda: len(deadly()) == 1, PATIENT_SECONDS)
        assert len(deadly()[0]) == 5
        retry(job, None)
        wait_until(lambda: deadly() == [["in/deadly.txt"]], PATIENT_SECONDS)
    assert not status(job, time.time()).is_done
    assert give_up(job) == 1
    found = {row["key"]: row["error"] and row["error"]["code"] for row in finish.rows(job.storage)}
    assert found == {**{f"in/{number}.txt": None for number in range(9)}, "in/deadly.txt": "given_up"}
    assert _is_done(cloud, "job")
    assert status(job, time.time()).dead == ()
