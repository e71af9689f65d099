"""A fleet's job from its start to its end: chunks once or twice delivered, errors, tries, cancellation, events."""

from __future__ import annotations

import json
import time

from service.bulk.dispatch import start, status
from service.core.errors import QueueFull, UnreadableDocument
from tests.support.bulk_cloud import BulkCloud
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
