"""A bulk job's documents: its terms (`job.json`), its plan in segments, its parts, and its progress.

The plan grows by segments with consecutive numbers, each of which is written once: of two planners that race for a
number one wins, and the other reads what was planned, drops those keys and tries the next number.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from service.bulk.storage import JobStorage
from service.core.bulk import (
    CHUNK_BYTES,
    CHUNK_FILES,
    BulkJob,
    Chunk,
    Item,
    PlannedKeys,
    chunks_of,
    part_name,
    unfinished,
    unplanned,
)
from service.core.errors import InvalidOptions

JOB, PLAN, PARTS = "job.json", "plan/", "parts/"
SEGMENT_CHUNKS = 100
"""Chunks of a segment at most: 5,000 files, about 500 KB."""


@dataclass(frozen=True, slots=True)
class FleetTerms:
    """Terms by which a fleet works on a job, set by the first call of `start`.

    Attributes:
        queue: URL of the queue of its chunks.
        by: when it is to be done, in Unix seconds; None: whenever there is room.
        notify: ARN of the topic that is told of its end.
        chunk_files: most files of a chunk; 1 where new objects announce themselves.
    """

    queue: str
    by: float | None = None
    notify: str | None = None
    chunk_files: int = CHUNK_FILES


@dataclass(frozen=True, slots=True)
class JobRecord:
    """The content of `job.json`.

    Attributes:
        asked_model: as it was asked for, None for the first that is served; `job.model` is the revision that it was.
        inputs: the names of the job's inputs.
        fleet: None for a job of one machine.
    """

    job: BulkJob
    asked_model: str | None
    inputs: tuple[str, ...]
    fleet: FleetTerms | None = None


@dataclass(frozen=True, slots=True)
class PlannedChunk:
    """A line of the plan: a chunk, and the name of its part."""

    part: str
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class JobCounts:
    """The progress of a job: all its chunks and files, and those whose part is written or needed no more."""

    chunks: int
    chunks_done: int
    files: int
    files_done: int

    @property
    def is_done(self) -> bool:
        """True when every planned chunk has the part that it needs."""
        return self.chunks == self.chunks_done


def encoded(value: Any) -> bytes:
    """A line of JSON; halves of characters, as in names of files that are no UTF-8, are written as `\\udcff`."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"


def read_record(storage: JobStorage) -> JobRecord | None:
    """The job's record; None before its first call.

    Raises:
        InvalidOptions: another program's file has its name.
    """
    data = storage.read(JOB)
    if data is None:
        return None
    try:
        found = json.loads(data)
        job, asked, inputs = BulkJob(found["model"], found["options"]), found["asked_model"], tuple(found["inputs"])
    except (ValueError, KeyError, TypeError):
        raise InvalidOptions(f"The output has a {JOB} that is none of a bulk job. {ANOTHER}") from None
    return JobRecord(job, asked, inputs, FleetTerms(**found["fleet"]) if "fleet" in found else None)


def check_same(record: JobRecord, *, asked_model: str | None, options: dict[str, Any], inputs: Sequence[str]) -> None:
    """Refuse a call whose options are not the job's; its model may be named by its revision too.

    Raises:
        InvalidOptions: says what differs.
    """
    if asked_model not in (record.asked_model, record.job.model):
        asked, model = record.asked_model or "no model", asked_model or "none"
        raise InvalidOptions(f"The job was started with {asked} ({record.job.model}), not with {model}. {ANOTHER}")
    if options != record.job.options:
        raise InvalidOptions(f"The job was started with the options {json.dumps(record.job.options)}. {ANOTHER}")
    if tuple(inputs) != record.inputs:
        raise InvalidOptions(f"The job was started for {', '.join(record.inputs)}. {ANOTHER}")


ANOTHER = "Choose another output for another job."


def begin(storage: JobStorage, record: JobRecord) -> JobRecord:
    """Write the job's record, or find that it is there and the same.

    Raises:
        InvalidOptions: the output holds another job.
    """
    if storage.put_once(JOB, _record_data(record)):
        return record
    found = read_record(storage)
    assert found is not None, "its name is taken"
    check_same(found, asked_model=record.asked_model, options=dict(record.job.options), inputs=record.inputs)
    return found


def move(storage: JobStorage, record: JobRecord) -> None:
    """Write the record of a job that goes on by another queue and is otherwise unchanged."""
    storage.put(JOB, _record_data(record))


def _record_data(record: JobRecord) -> bytes:
    data = {
        "model": record.job.model,
        "asked_model": record.asked_model,
        "options": dict(record.job.options),
        "inputs": list(record.inputs),
        **({"fleet": asdict(record.fleet)} if record.fleet else {}),
    }
    return json.dumps(data, indent=2).encode() + b"\n"


def plan(
    storage: JobStorage,
    job: BulkJob,
    items: Iterable[Item],
    *,
    files: int = CHUNK_FILES,
    size_bytes: int = CHUNK_BYTES,
) -> Iterator[list[PlannedChunk]]:
    """Plan the inputs that the plan lacks; yields the chunks of each new segment as soon as it is written."""
    planner = _Planner(storage, job)
    new = chunks_of(unplanned(items, planner.keys), files, size_bytes)
    yield from planner.append(new, files, size_bytes)


def plan_again(
    storage: JobStorage, job: BulkJob, items: Iterable[Item], *, files: int = CHUNK_FILES, size_bytes: int = CHUNK_BYTES
) -> Iterator[list[PlannedChunk]]:
    """As `plan`, for inputs that the plan has already: their rows count from then on, in parts with new names."""
    planner = _Planner(storage, job)
    again = chunks_of(items, files, size_bytes, attempt=planner.most_attempts + 1)
    yield from planner.append(again, files, size_bytes)


def segments(storage: JobStorage, after: int = 0) -> Iterator[list[PlannedChunk]]:
    """The plan's segments in order, from the one after `after`."""
    while (data := storage.read(_segment(after + 1))) is not None:
        after += 1
        yield [_chunk(json.loads(line)) for line in data.splitlines()]


def planned(storage: JobStorage) -> Iterator[PlannedChunk]:
    """All chunks of the plan, in order. One that is in it twice has the same part."""
    for segment in segments(storage):
        yield from segment


def part_file(part: str) -> str:
    return f"{PARTS}{part}.jsonl"


def part_of(file: str) -> str:
    """The part whose document has this name."""
    return file.removeprefix(PARTS).removesuffix(".jsonl")


def parts(storage: JobStorage) -> set[str]:
    """The names of the parts that are written."""
    return set(map(part_of, storage.names(PARTS)))


def put_part(storage: JobStorage, part: str, rows: Iterable[dict[str, Any]]) -> bool:
    """Write a chunk's rows; False if they are there: then those stand."""
    return storage.put_once(part_file(part), b"".join(map(encoded, rows)))


def settled_parts(storage: JobStorage) -> set[str]:
    """The parts that are written, and those of the plan that are needed no more."""
    written = parts(storage)
    names = list[str]()

    def noted() -> Iterator[tuple[Chunk, bool]]:
        for each in planned(storage):
            names.append(each.part)
            yield each.chunk, each.part in written

    needed = {names[number] for number in unfinished(noted())}
    return written | (set(names) - needed)


def counts(storage: JobStorage) -> JobCounts:
    """The job's progress by its storage."""
    written = parts(storage)
    sizes = list[int]()

    def noted() -> Iterator[tuple[Chunk, bool]]:
        for each in planned(storage):
            sizes.append(len(each.chunk.items))
            yield each.chunk, each.part in written

    left = unfinished(noted())
    files = sum(sizes)
    return JobCounts(len(sizes), len(sizes) - len(left), files, files - sum(sizes[number] for number in left))


_Try = tuple[str, int]
"""A key, and which attempt at it."""


class _Planner:
    """Appends segments to a plan that others may append to meanwhile."""

    def __init__(self, storage: JobStorage, job: BulkJob) -> None:
        self._storage, self._job = storage, job
        self._number = 0
        self.keys = PlannedKeys()
        self.most_attempts = 0
        for segment in segments(storage):
            self._take(segment)

    def append(self, chunks: Iterator[Chunk], files: int, size_bytes: int) -> Iterator[list[PlannedChunk]]:
        """Append these chunks, but for the keys that others append first; yields each segment that is written."""

        def without(some: list[Chunk], keys: set[_Try]) -> list[Chunk]:
            left = (item for chunk in some for item in chunk.items if (item.key, chunk.attempt) not in keys)
            return list(chunks_of(left, files, size_bytes, attempt=some[0].attempt)) if keys else some

        others = set[_Try]()  # What others planned before `some` was taken: an item of it was read earlier.
        while some := list(islice(chunks, SEGMENT_CHUNKS)):
            some, others = without(some, others), set()
            while some:
                lines = [PlannedChunk(part_name(chunk, self._job), chunk) for chunk in some]
                if self._storage.put_once(_segment(self._number + 1), b"".join(map(_line, lines))):
                    self._number += 1
                    yield lines
                    break
                new = self._read_new()
                some, others = without(some, new), others | new

    def _read_new(self) -> set[_Try]:
        """Take in the segments that others have written since; returns their inputs."""
        found = set[_Try]()
        for segment in segments(self._storage, self._number):
            self._take(segment)
            found.update((item.key, each.chunk.attempt) for each in segment for item in each.chunk.items)
        return found

    def _take(self, segment: list[PlannedChunk]) -> None:
        self._number += 1
        for each in segment:
            self.most_attempts = max(self.most_attempts, each.chunk.attempt)
            for item in each.chunk.items:
                self.keys.add(item)


def _segment(number: int) -> str:
    return f"{PLAN}{number:06}.jsonl"


def _line(planned: PlannedChunk) -> bytes:
    items = [[item.key, item.version, item.size_bytes] for item in planned.chunk.items]
    attempt = {"attempt": planned.chunk.attempt} if planned.chunk.attempt else {}
    return encoded({"part": planned.part, **attempt, "items": items})


def _chunk(line: dict[str, Any]) -> PlannedChunk:
    items = (Item(key, version, size) for key, version, size in line["items"])
    return PlannedChunk(line["part"], Chunk(tuple(items), line.get("attempt", 0)))
