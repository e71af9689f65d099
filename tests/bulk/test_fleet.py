"""A fleet's job from its start to its end: chunks once or twice delivered, errors, tries, cancellation, events."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator

import pytest

from service.bulk import job as jobs
from service.bulk.dispatch import cancel, retry, start, status
from service.bulk.finish import write_files
from service.bulk.fleet_job import FleetJob
from service.bulk.fleet_worker import JOB_PAUSE_SECONDS
from service.bulk.messages import ChunkMessage, read_message
from service.bulk.s3 import S3Inputs, S3Storage, place_of
from service.bulk.sqs import SqsQueue
from service.core.bulk import Item, row
from service.core.errors import DocumentTooLarge, Forbidden, InvalidOptions, QueueFull, UnreadableDocument
from tests.support.bulk_cloud import BulkCloud, refusing
from tests.support.bulk_fleet import MODEL, EchoService, begun, rows, until, working

BAD = UnreadableDocument("Damaged.")


def _files(count: int) -> dict[str, bytes]:
    return {f"in/{number:03}.txt": b"text %d" % number for number in range(count)}


def _is_finished(cloud: BulkCloud) -> bool:
    return bool(cloud.objects(cloud.target, "job/_SUCCESS"))


async def test_each_file_has_one_row_and_the_end_is_told_once(cloud: BulkCloud) -> None:
    cloud.put(_files(25) | {"in/bad.txt": b"bad", "in/empty.txt": b""})
    job, inputs = begun(cloud, chunk_files=4)
    sent = start(job, inputs)
    assert (sent.files, sent.chunks, sent.sent) == (27, 7, 7)
    assert start(job, inputs).sent == 7, "nobody can tell what is still in the queue"
    service = EchoService({b"bad": [BAD], b"text 3": [QueueFull("Full.", retry_after_seconds=0.01), None]})
    async with working(cloud, service):
        await until(lambda: _is_finished(cloud) and not cloud.waiting(cloud.queue))
    found = rows(cloud)
    assert [row["key"] for row in found] == sorted([*_files(25), "in/bad.txt", "in/empty.txt"])
    assert [row["key"] for row in found if row["error"]] == ["in/bad.txt"]
    assert service.options[0] == {"fields": True, "model": MODEL}
    [told] = map(json.loads, cloud.notifications())
    assert (told["job"], told["answered"], told["errors"]) == (job.url, 26, {"unreadable_document": 1})
    found_now = status(job, time.time())
    assert found_now.is_done
    assert found_now.errors == {"unreadable_document": 1}
    assert found_now.files_a_second is not None


def test_of_two_starts_at_once_each_plans_and_sends_all(cloud: BulkCloud) -> None:
    """The other one is through before this one, which has listed all, has written its plan."""
    cloud.put(_files(5))
    job, inputs = begun(cloud, chunk_files=2)

    class Meanwhile(S3Inputs):
        def items(self) -> Iterator[Item]:
            yield from super().items()
            assert start(FleetJob(job.url), inputs).sent == 3

    sent = start(job, Meanwhile(f"s3://{cloud.source}/in/"))
    assert (sent.files, sent.chunks, sent.sent) == (5, 3, 3)
    assert job.is_planned()
    job.plan_ended(0)
    assert FleetJob(job.url).is_planned(), "also if a call that saw less of the plan ends last"


async def test_nothing_is_computed_that_may_not_be_written(
    cloud: BulkCloud, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    cloud.put(_files(2))
    job, inputs = begun(cloud, chunk_files=1)
    start(job, inputs)
    service = EchoService()
    with refusing(403, "AccessDenied", writes_to=cloud.url) as url, monkeypatch.context() as there:
        there.setenv("AWS_ENDPOINT_URL_S3", url)
        async with working(cloud, service):
            await until(lambda: caplog.text.count("refuses access") > 1)
    assert not service.asked
    async with working(cloud, service):
        await until(lambda: _is_finished(cloud))
    assert len(rows(cloud)) == 2


async def test_a_job_with_wrong_options_holds_up_no_other(cloud: BulkCloud, caplog: pytest.LogCaptureFixture) -> None:
    cloud.put(_files(1))
    (wrong, inputs), (other, _) = begun(cloud, "wrong"), begun(cloud)
    start(wrong, inputs)
    said = InvalidOptions("labels: documents has no label 'PRESON'.")
    async with working(cloud, EchoService({b"text 0": [said, None]})):
        await until(lambda: "PRESON" in caplog.text)
        start(other, inputs)
        await until(lambda: _is_finished(cloud), JOB_PAUSE_SECONDS / 2)


async def test_a_worker_keeps_few_jobs_open_and_one_that_fails_hides_no_deadline(
    cloud: BulkCloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.bulk.fleet_worker.KEPT_JOBS", 2)
    cloud.put(_files(1))
    due = time.time() + 60
    made = [begun(cloud, name, by=due + number) for number, name in enumerate(("a", "b", "c"))]
    service = EchoService({b"text 0": [QueueFull("Full.", retry_after_seconds=60.0)]})
    async with working(cloud, service) as worker:
        for number, (job, inputs) in enumerate(made):
            await asyncio.to_thread(start, job, inputs)
            await until(lambda number=number: service.asked[b"text 0"] > number)  # type: ignore[misc]
        assert await worker.deadline() == due + 1
        cloud.s3.put_object(Bucket=cloud.target, Key="b/cancelled.json", Body=b"{}")
        for each in worker._jobs.values():
            each._looked = float("-inf")
        assert await worker.deadline() == due + 2
        next(iter(worker._jobs.values())).job.storage = S3Storage(place_of("s3://there-is-none-of-that-name/b"))
        assert await worker.deadline() == due + 2


def test_a_watch_reads_each_segment_of_the_plan_once(cloud: BulkCloud) -> None:
    cloud.put(_files(5))
    job, inputs = begun(cloud, chunk_files=2)
    start(job, inputs)
    watched = FleetJob(job.url, keeps_plan=True)
    assert status(watched, time.time()).counts.files == 5
    cloud.put({"in/later.txt": b"new"})
    start(job, inputs)
    cloud.s3.delete_object(Bucket=cloud.target, Key="job/plan/000001.jsonl")
    assert status(watched, time.time()).counts.files == 6
    assert status(job, time.time()).counts.files == 0


def _kill_first_chunk(job: FleetJob, cloud: BulkCloud) -> None:
    """Receive a job's first chunk until it is a dead letter; the others stay in the queue."""
    queue = SqsQueue(cloud.queue)
    while not cloud.waiting(cloud.dead_letters):
        for message in queue.receive(most=10, lease_seconds=0):
            is_first = read_message(message.body) == ChunkMessage(job.url, 1, 0)
            if is_first or message.receives < 3:
                continue
            queue.send([message.body])
            queue.delete(message)


async def test_dead_letters_are_tried_again_each_file_alone(cloud: BulkCloud) -> None:
    cloud.put(_files(6))
    job, inputs = begun(cloud, chunk_files=3)
    start(job, inputs)
    _kill_first_chunk(job, cloud)
    found = status(job, time.time())
    assert [[item.key for item in planned.chunk.items] for planned in found.dead] == [sorted(_files(3))]
    assert not found.is_done
    sent = retry(job, None)
    assert (sent.files, sent.chunks, sent.sent) == (3, 3, 3)
    assert cloud.waiting(cloud.dead_letters) == 0
    assert start(job, inputs).sent == 4, "the chunk that died is needed no more"
    async with working(cloud, EchoService()):
        await until(lambda: _is_finished(cloud))
    assert [row["key"] for row in rows(cloud)] == sorted(_files(6))
    found = status(job, time.time())
    assert (found.is_done, found.dead) == (True, ())
    assert json.loads(cloud.objects(cloud.target)["job/summary.json"])["files"] == 6


async def test_errors_are_tried_again_and_the_new_row_counts(cloud: BulkCloud) -> None:
    cloud.put(_files(5) | {"in/bad.txt": b"bad", "in/worse.txt": b"worse"})
    job, inputs = begun(cloud)
    start(job, inputs)
    service = EchoService({b"bad": [BAD], b"worse": [DocumentTooLarge("Large.")]})
    async with working(cloud, service):
        await until(lambda: _is_finished(cloud))
        assert status(job, time.time()).errors == {"unreadable_document": 1, "document_too_large": 1}
        service.errors.clear()
        assert retry(job, frozenset({"unreadable_document"})).files == 1
        await until(lambda: b"2" in cloud.objects(cloud.target)["job/_SUCCESS"])
    summary = json.loads(cloud.objects(cloud.target)["job/summary.json"])
    assert (summary["files"], summary["errors"]) == (7, {"document_too_large": 1})
    assert status(job, time.time()).errors == {"document_too_large": 1}
    assert service.asked[b"bad"] == 2
    assert service.asked[b"text 1"] == 1
    assert retry(job, frozenset({"too_slow"})).files == 0
    await until(lambda: len(cloud.notifications()) >= 1)


async def test_a_cancelled_job_leaves_the_queue_and_may_be_started_again(cloud: BulkCloud) -> None:
    cloud.put(_files(6))
    job, inputs = begun(cloud, chunk_files=2)
    start(job, inputs)
    cancel(job)
    service = EchoService()
    async with working(cloud, service):
        await until(lambda: not cloud.waiting(cloud.queue))
    assert not service.asked
    found = status(job, time.time())
    assert (found.is_cancelled, found.is_done) == (True, False)
    assert start(job, inputs).sent == 3
    async with working(cloud, service):
        await until(lambda: _is_finished(cloud))
    assert len(rows(cloud)) == 6


async def test_a_job_may_be_started_again_as_soon_as_it_was_cancelled(cloud: BulkCloud) -> None:
    """What `start` sends then is worked on, also by one that has just seen that the job was cancelled."""
    cloud.put(_files(6))
    job, inputs = begun(cloud, chunk_files=2, by=time.time() + 60)
    start(job, inputs)
    cancel(job)
    with pytest.raises(InvalidOptions, match="is cancelled"):
        retry(job, frozenset())
    async with working(cloud, EchoService()) as worker:
        await until(lambda: not cloud.waiting(cloud.queue))
        assert await worker.deadline() is None
        start(job, inputs)
        await until(lambda: _is_finished(cloud))
    assert [row["key"] for row in rows(cloud)] == sorted(_files(6))


async def test_a_deadline_is_over_when_another_has_done_the_last_chunk(cloud: BulkCloud) -> None:
    cloud.put(_files(2))
    job, inputs = begun(cloud, chunk_files=1, by=time.time() + 60)
    start(job, inputs)
    first, second = jobs.planned(job.storage)
    slow = EchoService({b"text 0": [QueueFull("Full.", retry_after_seconds=60.0)]})
    async with working(cloud, slow) as worker:
        await until(lambda: slow.asked[b"text 0"] > 0 and slow.asked[b"text 1"] > 0)
        assert await worker.deadline() == job.terms.by
        for planned in (first, second):
            job.put_part(planned.part, [row(planned.chunk.items[0], model=MODEL, document={})])
        assert job.finish_if_done()
        assert await worker.deadline() == job.terms.by, "as known for a minute"
        next(iter(worker._jobs.values()))._end_looked = float("-inf")
        assert await worker.deadline() is None


ODD = (
    "a b.txt",
    "ü/é+ß%20.txt",
    "q?x=1&y#z.txt",
    "'\"<>&.txt",
    "\u202e\x01.txt",
    "a//b.txt",
    "a/b.txt",
)


async def test_odd_keys_are_answered_under_their_names(cloud: BulkCloud) -> None:
    cloud.put({f"in/{key}": key.encode() for key in ODD} | {"in/": b"", "in/folder/": b"", "in/empty": b""})
    job, inputs = begun(cloud, chunk_files=3)
    assert start(job, inputs).files == len(ODD) + 1
    async with working(cloud, EchoService()):
        await until(lambda: _is_finished(cloud))
    assert [row["key"] for row in rows(cloud)] == sorted(f"in/{key}" for key in (*ODD, "empty"))
    assert [row["error"] for row in rows(cloud)] == [None] * (len(ODD) + 1)
    assert start(job, inputs).sent == 0
    names = write_files(job.storage)
    assert names
    assert len(cloud.objects(cloud.target, "job/documents/")) == len(ODD) + 1


async def test_objects_that_go_or_change_during_the_job_are_planned_again(cloud: BulkCloud) -> None:
    """In a versioned bucket: a version that is gone from sight is not read in place of the one that is there."""
    cloud.s3.put_bucket_versioning(Bucket=cloud.source, VersioningConfiguration={"Status": "Enabled"})
    cloud.put(_files(4))
    job, inputs = begun(cloud)
    start(job, inputs)
    cloud.s3.delete_object(Bucket=cloud.source, Key="in/000.txt")
    cloud.put({"in/001.txt": b"new"})
    async with working(cloud, EchoService()):
        await until(lambda: _is_finished(cloud))
        assert status(job, time.time()).errors == {"object_missing": 1, "object_changed": 1}
        assert start(job, inputs).files == 5, "the new version is added"
        await until(lambda: b"2" in cloud.objects(cloud.target)["job/_SUCCESS"])
    assert status(job, time.time()).errors == {"object_missing": 1}
    assert json.loads(cloud.objects(cloud.target)["job/summary.json"])["files"] == 4


async def test_a_revision_that_is_not_served_leaves_chunks_for_later(
    cloud: BulkCloud, caplog: pytest.LogCaptureFixture
) -> None:
    cloud.put(_files(1))
    job, inputs = begun(cloud)
    start(job, inputs)
    async with working(cloud, EchoService(models=set())):
        await until(lambda: "is not served here" in caplog.text)
        await until(lambda: SqsQueue(cloud.queue).state().leased == 1)
    assert cloud.waiting(cloud.queue) == 1
    assert not rows(cloud)


async def test_what_no_file_can_mend_and_unknown_messages_are_left(
    cloud: BulkCloud, caplog: pytest.LogCaptureFixture
) -> None:
    cloud.put(_files(1))
    job, inputs = begun(cloud)
    SqsQueue(cloud.queue).send(["{}", ChunkMessage(cloud.output("none"), 1, 0).encoded()])
    async with working(cloud, EchoService({b"text 0": [Forbidden("The key is not known.")]})):
        await until(lambda: "neither a chunk" in caplog.text and "There is no job of a fleet" in caplog.text)
        start(job, inputs)
        await until(lambda: "forbidden: The key is not known." in caplog.text)
    assert not rows(cloud)
    assert cloud.waiting(cloud.queue) == 2, "the chunk, and what may be somebody else's message"


async def test_a_stop_lets_leases_go_at_once(cloud: BulkCloud) -> None:
    cloud.put(_files(2))
    job, inputs = begun(cloud)
    start(job, inputs)
    service = EchoService({b"text 0": [QueueFull("Full.", retry_after_seconds=60.0)]})
    async with working(cloud, service) as worker:
        await until(lambda: bool(service.asked[b"text 0"]))
        assert worker.is_busy
        assert (worker.chunks, worker.files) == (1, 2)
    assert SqsQueue(cloud.queue).state().leased == 0
    assert cloud.waiting(cloud.queue) == 1


async def test_a_lease_is_prolonged_while_files_wait(cloud: BulkCloud) -> None:
    cloud.put(_files(1))
    cloud.sqs.set_queue_attributes(QueueUrl=cloud.queue, Attributes={"VisibilityTimeout": "4"})
    job, inputs = begun(cloud, by=time.time() + 60)
    start(job, inputs)
    service = EchoService({b"text 0": [QueueFull("Full.", retry_after_seconds=8.0), None]})
    async with working(cloud, service, lease_seconds=4) as worker:
        await until(lambda: bool(rows(cloud)))
        assert await worker.deadline() == job.terms.by
        await until(lambda: not cloud.waiting(cloud.queue))
        assert await worker.deadline() is None
    assert service.asked == {b"text 0": 2}, "nobody else got it meanwhile"


def test_a_topic_that_one_claimed_and_did_not_tell_is_told_by_another(cloud: BulkCloud) -> None:
    cloud.put(_files(1))
    job, inputs = begun(cloud)
    start(job, inputs)
    [planned] = jobs.planned(job.storage)
    assert not job.finish_if_done()
    job.put_part(planned.part, [row(planned.chunk.items[0], model=MODEL, document={})])
    job.storage.put_once("notified/000001.claim", b"{}")
    assert FleetJob(job.url, claim_seconds=1.0).finish_if_done()
    assert job.finish_if_done()
    assert len(cloud.notifications()) == 1
