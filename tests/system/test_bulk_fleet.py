"""A service that works on a bulk queue: from start to end, with keys and ports of its own, and deaths in between."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from loadtest.service_process import KeptPort
from model_store.local.store import Store
from service.bulk import job as jobs
from service.bulk.dispatch import start, status
from service.bulk.fleet_job import FleetJob
from service.bulk.job import FleetTerms, JobRecord
from service.bulk.s3 import S3Inputs, S3Storage, place_of
from service.cli import main
from service.core.bulk import BulkJob
from tests.support.bulk_cloud import BulkCloud, bulk_cloud, moto_server
from tests.support.bulk_fleet import rows
from tests.support.certificates import make_certificate
from tests.support.service import PLAIN, Service, serving, wait_until
from tests.support.service import start as start_service

KEY = "a key that only bulk work has"
LEASE_SECONDS = 6
FILES = 60


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[BulkCloud]:
    with moto_server() as url, bulk_cloud(url, monkeypatch, lease_seconds=LEASE_SECONDS) as made:
        yield made


def _begun(cloud: BulkCloud, model: str, name: str = "job", **terms: Any) -> tuple[FleetJob, S3Inputs]:
    inputs = S3Inputs(f"s3://{cloud.source}/in/")
    record = JobRecord(BulkJob(model, {}), "tiny", inputs.names, FleetTerms(cloud.queue, notify=cloud.topic, **terms))
    jobs.begin(S3Storage(place_of(cloud.output(name))), record)
    return FleetJob(cloud.output(name)), inputs


def _model(service: Service) -> str:
    answer = service.extract(text="-").raise_for_status().json()["model"]
    return f"{answer['name']}@{answer['revision']}"


def _outcome(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["key"], row["sha256"], row["document"] and row["document"]["entities"], row["error"]


def test_a_service_answers_a_whole_job_whatever_dies(
    home: Path, cloud: BulkCloud, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {f"in/{number}.txt": f"Jane Doe {number} lives in Springfield.".encode() for number in range(FILES)}
    cloud.put(files | {"in/bad.pdf": b"%PDF-1.7 damaged", "in/strange.bin": bytes(range(256))})
    with serving(home, MODELS="tiny", DTYPE="float32", WORKERS=1, BULK_QUEUE=cloud.queue) as service:
        job, inputs = _begun(cloud, _model(service), chunk_files=5)
        start(job, inputs)

        def kill(part: str, parts: int) -> None:
            """Kill a process after so many parts."""
            wait_until(lambda: len(jobs.parts(job.storage)) >= parts)
            os.kill(service.child(part), signal.SIGKILL)

        kill("bulk", 1)
        kill("engine", 4)
        wait_until(lambda: bool(cloud.objects(cloud.target, "job/_SUCCESS")))
        assert status(job, time.time()).is_done
        wait_until(lambda: not cloud.waiting(cloud.queue))
        found = rows(cloud)
        assert [row["key"] for row in found] == sorted([*files, "in/bad.pdf", "in/strange.bin"])
        assert {row["key"] for row in found if row["error"]} >= {"in/bad.pdf"}
        assert not {row["key"] for row in found if row["error"]} & set(files)
        assert {row["sha256"] for row in found} >= {hashlib.sha256(data).hexdigest() for data in files.values()}
        [told] = map(json.loads, cloud.notifications())
        assert told["files"] == FILES + 2
        wait_until(lambda: 'gleaner_bulk_stage_work_ratio{stage="compute"}' in service.get("/metrics").text)
        wait_until(lambda: service.metric("gleaner_bulk_backlog_seconds") == 0.0)
        assert {"bulk_died", "bulk_job_done"} <= set(service.events())
        out, url = cloud.output("other"), ["--url", service.url]
        assert (
            main(["bulk", "estimate", f"s3://{cloud.source}/in/", "--sample", "9", "--dollars-per-hour", "1", *url])
            == 0
        )
        assert f"{FILES + 2} files" in (said := capsys.readouterr().out)
        assert "16 tasks" in said
        assert main(["bulk", "start", f"s3://{cloud.source}/in/", out, "--queue", cloud.queue, *url]) == 0
        assert FleetJob(out).record.job.model == job.record.job.model
        wait_until(lambda: bool(cloud.objects(cloud.target, "other/_SUCCESS")))
        assert [_outcome(row) for row in rows(cloud, "other")] == [_outcome(row) for row in found]
        assert service.stop() == 0
        assert "bulk_stopped" in service.events()


def test_new_objects_are_answered_where_keys_are_needed(home: Path, cloud: BulkCloud, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text(f"alice {hashlib.sha256(KEY.encode()).hexdigest()}\n")
    settings: dict[str, Any] = {"BULK_QUEUE": cloud.queue, "BULK_EVENTS": cloud.output("live")}
    with serving(home, MODELS="tiny", DTYPE="float32", WORKERS=1, API_KEYS_FILE=keys, **settings) as service:
        headers = {"Authorization": f"Bearer {KEY}"}
        answer = httpx.post(f"{service.url}/extract", json={"text": "-"}, headers=headers, verify=PLAIN).json()
        model = f"{answer['model']['name']}@{answer['model']['revision']}"
        job, inputs = _begun(cloud, model, "live", chunk_files=1)
        cloud.s3.put_bucket_notification_configuration(
            Bucket=cloud.source,
            NotificationConfiguration={
                "QueueConfigurations": [{"QueueArn": cloud.queue_arn, "Events": ["s3:ObjectCreated:*"]}]
            },
        )
        cloud.put({"in/a b+ü.txt": b"Jane Doe lives in Springfield.", "elsewhere/b.txt": b"no"})
        wait_until(lambda: len(jobs.parts(job.storage)) == 1)
        assert start(job, inputs).sent == 0, "its event was the same chunk"
        assert [(row["key"], row["error"]) for row in rows(cloud, "live")] == [("in/a b+ü.txt", None)]
        wait_until(lambda: not cloud.waiting(cloud.queue))


def test_tls_and_an_internal_port_are_spoken_to(home: Path, cloud: BulkCloud, tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    cloud.put({"in/a.txt": b"Jane Doe lives in Springfield."})
    revision = Store(home / "store").resolve("tiny").revision
    job, inputs = _begun(cloud, f"tiny@{revision}")
    start(job, inputs)
    kept = KeptPort()
    settings = {"TLS_CERTIFICATE": certificate, "TLS_KEY": key, "INTERNAL_PORT": kept.number, "CONSOLE": "off"}
    with start_service(home, MODELS="tiny", DTYPE="float32", WORKERS=1, BULK_QUEUE=cloud.queue, **settings):
        wait_until(lambda: bool(cloud.objects(cloud.target, "job/_SUCCESS")))
    assert [(row["key"], row["error"]) for row in rows(cloud)] == [("in/a.txt", None)]
