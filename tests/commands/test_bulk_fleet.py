"""`gleaner bulk start|status|estimate|retry|cancel|finish`: a job from bucket to bucket, by its commands."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from loadtest.service_process import KeptPort
from model_store.local.store import Store
from model_store.remote.folder import FolderRemote
from model_store.transfer.publish import publish
from model_store.transfer.push import push
from service.cli import main
from service.commands.bulk_fleet import deadline
from service.core.errors import InvalidOptions, UnreadableDocument
from tests.support.bulk_cloud import BulkCloud, bulk_cloud, moto_server, refusing
from tests.support.bulk_fleet import EchoService, until, working
from tests.support.model_folders import write_model

MODEL = f"documents@sha256:{'ab' * 32}"
BERLIN = timezone(timedelta(hours=1))
NOW = datetime(2026, 11, 27, 20, 30, tzinfo=BERLIN)


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[BulkCloud]:
    with moto_server() as url, bulk_cloud(url, monkeypatch) as made:
        yield made


def _start(cloud: BulkCloud, *more: str) -> int:
    return main(["bulk", "start", f"s3://{cloud.source}/in/", cloud.output("job"), "--queue", cloud.queue, *more])


async def test_a_job_is_started_watched_tried_again_and_finished(
    cloud: BulkCloud, capsys: pytest.CaptureFixture[str]
) -> None:
    cloud.put({"in/a.txt": b"a", "in/b.txt": b"b", "in/bad.txt": b"bad"})
    out = cloud.output("job")
    again = ("--model", MODEL, "--fields", "--labels", "PERSON")
    assert await asyncio.to_thread(_start, cloud, *again, "--by", "23:59", "--notify", cloud.topic) == 0
    assert "3 files in 1 chunks: 1 sent" in capsys.readouterr().out
    assert await asyncio.to_thread(_start, cloud, *again, "--by", "23:58") == 0
    assert "the job keeps its --by" in capsys.readouterr().err
    assert await asyncio.to_thread(_start, cloud, "--model", MODEL) == 2
    assert await asyncio.to_thread(main, ["bulk", "status", out]) == 3
    shown = capsys.readouterr().out
    assert "0 of 3" in shown
    assert "due " in shown
    service = EchoService({b"bad": [UnreadableDocument("Damaged.")]}, models={MODEL})
    async with working(cloud, service):
        await until(lambda: bool(cloud.objects(cloud.target, "job/_SUCCESS")))
        assert await asyncio.to_thread(main, ["bulk", "status", out, "--watch"]) == 0
        assert "1 errors (unreadable_document 1)" in capsys.readouterr().out
        service.errors.clear()
        assert await asyncio.to_thread(main, ["bulk", "retry", out, "--errors", "all"]) == 0
        assert "1 files in 1 chunks are tried again" in capsys.readouterr().out
        await until(lambda: b"2" in cloud.objects(cloud.target)["job/_SUCCESS"])
    assert await asyncio.to_thread(main, ["bulk", "retry", out, "--give-up"]) == 0
    assert "0 files are given up" in capsys.readouterr().out
    assert await asyncio.to_thread(main, ["bulk", "finish", out, "--lines", "--per-file"]) == 0
    assert f"{out}/documents.jsonl" in capsys.readouterr().out
    found = cloud.objects(cloud.target, "job/documents")
    keys = [json.loads(line)["key"] for line in found["job/documents.jsonl"].splitlines()]
    assert sorted(keys) == ["in/a.txt", "in/b.txt", "in/bad.txt"]
    assert json.loads(found["job/documents/in/bad.txt.json"])["error"] is None
    assert service.options[0] == {"fields": True, "labels": "PERSON", "model": MODEL}


def test_a_cancelled_job_says_so(cloud: BulkCloud, capsys: pytest.CaptureFixture[str]) -> None:
    cloud.put({"in/a.txt": b"a"})
    assert _start(cloud, "--model", MODEL) == 0
    assert main(["bulk", "cancel", cloud.output("job")]) == 0
    assert main(["bulk", "status", cloud.output("job"), "--watch"]) == 3
    assert "cancelled" in capsys.readouterr().out
    assert main(["bulk", "finish", cloud.output("job")]) == 3


REFUSALS = {
    "expired": ((400, "ExpiredToken", "It is old."), "does not accept the credentials"),
    "unknown": ((403, "InvalidAccessKeyId", "Nobody."), "does not accept the credentials"),
    "no right": ((403, "AccessDenied", "s3:GetObject"), "and their rights"),
    "a key": ((403, "AccessDenied", "no identity-based policy allows the kms:Decrypt action"), "KMS key"),
}


@pytest.mark.parametrize("place", ["S3", "SQS"])
@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_of_aws_is_one_plain_sentence(
    cloud: BulkCloud,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    place: str,
    name: str,
) -> None:
    refusal, words = REFUSALS[name]
    cloud.put({"in/a.txt": b"a"})
    assert _start(cloud, "--model", MODEL) == 0
    out = cloud.output("job")
    capsys.readouterr()
    other = ["start", f"s3://{cloud.source}/in/", cloud.output("other"), "--queue", cloud.queue, "--model", MODEL]
    asked = [["status", out], ["retry", out], other, [*other[:2], out, *other[3:]]]
    asked += [["cancel", out], ["finish", out], ["estimate", other[1], "--url", "http://nobody"]] * (place == "S3")
    with refusing(*refusal) as url, monkeypatch.context() as there:
        there.setenv(f"AWS_ENDPOINT_URL_{place}", url)
        for command in asked:
            code = main(["bulk", *command])
            said = "".join(capsys.readouterr())
            assert words in said, command
            assert code == (3 if command[0] in ("finish", "status") else 1), command
            assert "Traceback" not in said
    assert main(["bulk", "status", out]) == 3
    assert "0 of 1" in capsys.readouterr().out, "nothing is lost"


def test_without_credentials_or_queue_it_says_so(
    cloud: BulkCloud, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cloud.put({"in/a.txt": b"a"})
    assert _start(cloud, "--model", MODEL) == 0
    with monkeypatch.context() as without:
        without.delenv("AWS_ACCESS_KEY_ID")
        without.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
        assert main(["bulk", "status", cloud.output("job")]) == 3
        assert _start(cloud, "--model", MODEL) == 1
        said = capsys.readouterr().err
        assert said.count("There are no AWS credentials for ") == 2
    cloud.sqs.delete_queue(QueueUrl=cloud.queue)
    assert main(["bulk", "status", cloud.output("job")]) == 3
    assert f"There is no queue {cloud.queue}" in capsys.readouterr().out
    assert _start(cloud, "--model", MODEL) == 1
    assert f"There is no queue {cloud.queue}" in capsys.readouterr().err
    new = cloud.sqs.create_queue(QueueName="new")["QueueUrl"]
    assert _start(cloud, "--model", MODEL, "--queue", new) == 0
    assert "queue is gone" in capsys.readouterr().err
    assert cloud.waiting(new) == 1
    assert main(["bulk", "status", cloud.output("job")]) == 3
    assert "wait in the queue: 1" in capsys.readouterr().out


def test_a_mistyped_input_leaves_the_output_free(cloud: BulkCloud, capsys: pytest.CaptureFixture[str]) -> None:
    cloud.put({"in/a.txt": b"a"})
    out = cloud.output("job")
    for wrong in (f"s3://{cloud.source}-not/in/", f"s3://{cloud.source}/typo/"):
        assert main(["bulk", "start", wrong, out, "--queue", cloud.queue, "--model", MODEL]) == 2
    said = capsys.readouterr().err
    assert f"There is no object below s3://{cloud.source}/typo." in said
    assert "is not there" in said
    assert cloud.objects(cloud.target) == {}
    assert main(["bulk", "start", f"s3://{cloud.source}/in/", out, "--queue", cloud.queue, "--model", MODEL]) == 0
    assert main(["bulk", "start", f"s3://{cloud.source}/in/", "s3://not-there-at-all/x", "--model", MODEL]) == 1
    assert "is not there" in capsys.readouterr().err
    assert _start(cloud, "--model", MODEL, "--events") == 0
    assert "without --events" in capsys.readouterr().err


def test_what_cannot_be_started_is_said(cloud: BulkCloud, capsys: pytest.CaptureFixture[str]) -> None:
    source = f"s3://{cloud.source}/in/"
    assert main(["bulk", "start", source, source + "out/", "--queue", cloud.queue, "--model", MODEL]) == 2
    assert main(["bulk", "start", source, cloud.output("job"), "--model", MODEL]) == 2
    assert main(["bulk", "status", cloud.output("none")]) == 2
    assert main(["bulk", "start", "in/", cloud.output("job"), "--queue", cloud.queue, "--model", MODEL]) == 2
    assert _start(cloud) == 2
    assert _start(cloud, "--model", MODEL, "--min-score", "7") == 2
    assert _start(cloud, "--model", MODEL, "--queue", cloud.queue + "-not") == 1
    inside = [cloud.output("job/documents"), cloud.output("job")]
    assert main(["bulk", "start", *inside, "--queue", cloud.queue, "--model", MODEL]) == 2
    cloud.put({"in/a.txt": b"a"})
    assert main(["bulk", "estimate", source, "--url", f"127.0.0.1:{KeptPort().number}"]) == 1
    assert cloud.objects(cloud.target) == {}
    said = capsys.readouterr().err
    for words in (
        "min_score",
        "within the input s3://out",
        "The service does not answer",
        "within the input s3://in",
        "Which queue?",
        "start` makes one",
        "is not s3://",
        "Which revision?",
    ):
        assert words in said


def test_the_stores_tag_is_pinned(cloud: BulkCloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    revision = publish(write_model(tmp_path / "model"), "documents", Store(tmp_path / "store"), tag=None).revision
    push(revision, Store(tmp_path / "store"), FolderRemote(tmp_path / "remote"), tag="stable")
    monkeypatch.setenv("GLEANER_MODEL_REMOTE", f"file://{tmp_path}/remote")
    assert _start(cloud, "--model", "documents") == 2, "there are no files"
    assert _start(cloud, "--model", "documents", "--events") == 0, "they are to come"
    record = json.loads(cloud.objects(cloud.target)["job/job.json"])
    assert record["model"] == f"documents@{revision.revision}"
    assert record["asked_model"] == "documents"
    assert record["fleet"]["chunk_files"] == 1


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("21:00", datetime(2026, 11, 27, 21, 0, tzinfo=BERLIN)),
        ("06:00", datetime(2026, 11, 28, 6, 0, tzinfo=BERLIN)),
        ("2026-12-01T06:00", datetime(2026, 12, 1, 6, 0, tzinfo=BERLIN)),
        ("2026-12-01T06:00+00:00", datetime(2026, 12, 1, 6, 0, tzinfo=UTC)),
    ],
)
def test_a_deadline_is_the_next_time_that_it_is_so_late(text: str, found: datetime) -> None:
    assert deadline(text, NOW) == found.timestamp()


@pytest.mark.parametrize("text", ["six", "25:00", "2026-11-27T06:00"])
def test_a_deadline_that_is_none_or_past_is_said(text: str) -> None:
    with pytest.raises(InvalidOptions):
        deadline(text, NOW)
