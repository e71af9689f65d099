"""A job's record and plan: written once, only growing, also by planners that race."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from service.bulk import job as jobs
from service.bulk.job import JobCounts, JobRecord
from service.bulk.storage import FolderStorage
from service.core.bulk import BulkJob, Item, row
from service.core.errors import InvalidOptions

JOB = BulkJob("documents@sha256:ab", {"fields": True})
RECORD = JobRecord(JOB, "documents", ("/in",))


def _items(numbers: range, version: str = "v1") -> list[Item]:
    return [Item(f"in/{number}", version, 1) for number in numbers]


def _keys(storage: FolderStorage) -> list[str]:
    return [item.key for each in jobs.planned(storage) for item in each.chunk.items]


def test_a_job_is_begun_once(tmp_path: Path) -> None:
    storage = FolderStorage(tmp_path)
    assert jobs.read_record(storage) is None
    assert jobs.begin(storage, RECORD) == RECORD
    assert jobs.begin(storage, RECORD) == RECORD
    assert jobs.read_record(storage) == RECORD


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (JobRecord(JOB, "other", ("/in",)), "started with documents"),
        (JobRecord(JOB, None, ("/in",)), "not with none"),
        (JobRecord(BulkJob(JOB.model, {}), "documents", ("/in",)), '{"fields": true}'),
        (JobRecord(JOB, "documents", ("/in", "/more")), "started for /in"),
    ],
)
def test_another_job_in_the_same_output_is_refused(tmp_path: Path, other: JobRecord, words: str) -> None:
    storage = FolderStorage(tmp_path)
    jobs.begin(storage, RECORD)
    with pytest.raises(InvalidOptions, match=words):
        jobs.begin(storage, other)


@pytest.mark.parametrize("data", [b"", b"[]", b'{"jobs": []}', b"\xff"])
def test_another_programs_file_is_no_job(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "job.json").write_bytes(data)
    with pytest.raises(InvalidOptions, match="none of a bulk job"):
        jobs.begin(FolderStorage(tmp_path), RECORD)


def test_a_job_keeps_its_revision_and_may_be_named_by_it(tmp_path: Path) -> None:
    storage = FolderStorage(tmp_path)
    jobs.begin(storage, RECORD)
    published = JobRecord(BulkJob("documents@sha256:cd", JOB.options), "documents", ("/in",))
    assert jobs.begin(storage, published).job.model == JOB.model
    jobs.check_same(RECORD, asked_model=JOB.model, options={"fields": True}, inputs=["/in"])


def test_planned_again_only_what_is_new_or_changed_is_appended(tmp_path: Path) -> None:
    storage = FolderStorage(tmp_path)
    first = [each for segment in jobs.plan(storage, JOB, _items(range(7)), files=3) for each in segment]
    assert [len(each.chunk.items) for each in first] == [3, 3, 1]
    assert list(jobs.planned(storage)) == first
    assert list(jobs.plan(storage, JOB, _items(range(7)), files=3)) == []
    changed = [*_items(range(2), "v2"), *_items(range(2, 9))]
    (second,) = jobs.plan(storage, JOB, iter(changed))
    assert [item.key for each in second for item in each.chunk.items] == ["in/0", "in/1", "in/7", "in/8"]
    assert list(storage.names("plan/")) == ["plan/000001.jsonl", "plan/000002.jsonl"]


def test_names_that_are_no_unicode_come_back(tmp_path: Path) -> None:
    storage = FolderStorage(tmp_path)
    list(jobs.plan(storage, JOB, [Item("é\udcff\r\n", "v", 1)]))
    assert _keys(storage) == ["é\udcff\r\n"]


def test_inputs_that_are_tried_again_have_another_part(tmp_path: Path) -> None:
    storage = FolderStorage(tmp_path)
    (first,) = jobs.plan(storage, JOB, _items(range(1)))
    (second,) = jobs.plan_again(storage, JOB, _items(range(1)))
    (third,) = jobs.plan_again(storage, JOB, _items(range(1)))
    assert len({segment[0].part for segment in (first, second, third)}) == 3
    assert [each.chunk.attempt for each in jobs.planned(storage)] == [0, 1, 2]
    assert list(jobs.plan(storage, JOB, _items(range(1)))) == []


def test_racing_planners_plan_each_key_once(tmp_path: Path) -> None:
    """Listings that overlap, read at the same time: whoever loses a number drops what the winner planned."""
    numbers = [range(900), range(300, 1200), range(1200), range(600, 900)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda each: list(jobs.plan(FolderStorage(tmp_path), JOB, _items(each), files=3)), numbers))
    assert sorted(_keys(FolderStorage(tmp_path))) == sorted(item.key for item in _items(range(1200)))


def test_a_planner_that_loses_each_race_drops_what_it_has_listed(tmp_path: Path) -> None:
    """Another planner takes the next number whenever this one has listed a segment and an input of the next chunk."""
    storage = FolderStorage(tmp_path)
    begun: list[int] = []

    def listing() -> Iterator[Item]:
        for number, item in enumerate(_items(range(1000))):
            if number % 301 == 300:
                begun.append(number)
                list(jobs.plan(FolderStorage(tmp_path), JOB, _items(range(number + 2)), files=3))
            yield item

    list(jobs.plan(storage, JOB, listing(), files=3))
    assert begun == [300, 601, 902]
    assert sorted(_keys(storage)) == sorted(item.key for item in _items(range(1000)))


def test_counts_say_how_far_a_job_is(tmp_path: Path) -> None:
    storage = FolderStorage(tmp_path)
    (chunks,) = jobs.plan(storage, JOB, _items(range(7)), files=3)
    assert jobs.counts(storage) == JobCounts(chunks=3, chunks_done=0, files=7, files_done=0)
    for each in chunks[1:]:
        rows = [row(item, model=JOB.model) for item in each.chunk.items]
        assert jobs.put_part(storage, each.part, rows)
        assert not jobs.put_part(storage, each.part, [])
    assert jobs.counts(storage) == JobCounts(chunks=3, chunks_done=2, files=7, files_done=4)
    assert not jobs.counts(storage).is_done
    assert jobs.parts(storage) == {each.part for each in chunks[1:]}
