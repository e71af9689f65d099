"""A job of a fleet: its parts, errors, end and cancellation, as workers and commands see them.

Beside the documents of every job (`storage.py`) there are:

    planned/000001.json  written when `start` or `retry` was through with a plan of so many segments
    writable.json        written by the first worker, before it computes what it could not keep
    errors/NAME.jsonl    the rows of a part that are errors, so that they are counted without reading all parts
    cancelled.json       workers drop the job's messages while it is there
    notified/000001.json written when the topic was told of the end of a plan of so many segments

A part's errors are written from the part that stands, after it and before its message is deleted.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

from service.bulk import finish as outputs
from service.bulk import job as jobs
from service.bulk import sqs
from service.bulk.finish import Row
from service.bulk.job import JobRecord, PlannedChunk
from service.bulk.s3 import S3Place, S3Storage, place_of
from service.core.errors import InvalidOptions
from service.logs import LogEvent

PLANNED, ERRORS, CANCELLED, NOTIFIED = "planned/", "errors/", "cancelled.json", "notified/"
WRITABLE = "writable.json"
KEPT_SEGMENTS = 20
"""Segments of the plan that are kept in memory, about 5 MB each."""
READERS = 10
"""Parts' errors that are read at a time."""
CLAIM_SECONDS, CLAIM_POLL_SECONDS = 30.0, 0.5
"""Seconds to wait for another process that tells the topic, and between two looks."""
FEW_CHUNKS = 1_000
"""Chunks without a part, up to which it is looked up whether later tries have taken their place."""

log = logging.getLogger(__name__)


class _PlanReadOnce(S3Storage):
    """A job's storage that reads each segment of the plan once, as segments never change. Memory: 100 bytes a file."""

    def __init__(self, place: S3Place) -> None:
        super().__init__(place)
        self._segments: dict[str, bytes] = {}

    def read(self, name: str) -> bytes | None:
        data = self._segments.get(name) or super().read(name)
        if data is not None and name.startswith(jobs.PLAN):
            self._segments[name] = data
        return data


class FleetJob:
    """A job that has been started. Calls block and may come from several threads.

    Args:
        keeps_plan: read the plan once, where it is needed whole again and again.
        claim_seconds: after which a topic that is not told is told by another than the one that claimed it.

    Raises:
        InvalidOptions: there is no such job.
    """

    def __init__(self, url: str, *, keeps_plan: bool = False, claim_seconds: float = CLAIM_SECONDS) -> None:
        place = place_of(url)
        self.url = str(place)
        self.storage = (_PlanReadOnce if keeps_plan else S3Storage)(place)
        record = jobs.read_record(self.storage)
        if record is None or record.fleet is None:
            raise InvalidOptions(f"There is no job of a fleet at {url}; `gleaner bulk start` makes one.")
        self.record: JobRecord = record
        self.terms = record.fleet
        self._claim_seconds = claim_seconds
        self._segments: dict[int, list[PlannedChunk]] = {}
        self._plan = set[str]()
        self._segments_read = 0
        self._has_tries = False

    def chunk(self, segment: int, line: int) -> PlannedChunk | None:
        """A chunk by its place in the plan; None if the plan has no such place."""
        found = self._segments.get(segment)
        if found is None:
            found = next(jobs.segments(self.storage, segment - 1), None)
            if found is None:
                return None
            while len(self._segments) >= KEPT_SEGMENTS:
                self._segments.pop(next(iter(self._segments)), None)
            self._segments[segment] = found
        return found[line] if line < len(found) else None

    @property
    def known_chunks(self) -> int:
        """Chunks of the plan, as far as it has been read to look for the end."""
        return len(self._plan)

    def is_cancelled(self) -> bool:
        """True while the job's messages are to be dropped."""
        return self.storage.read(CANCELLED) is not None

    def check_writable(self) -> None:
        """Find out whether results may be written, before they are computed.

        Raises:
            StorageError: they may not, or not now.
        """
        self.storage.put_once(WRITABLE, b"{}\n")

    def has_part(self, part: str) -> bool:
        """True if a part is written; then its errors are too."""
        data = self.storage.read(jobs.part_file(part))
        if data is None:
            return False
        lines = [line for line in data.splitlines(keepends=True) if json.loads(line)["error"] is not None]
        if lines:
            self.storage.put_once(f"{ERRORS}{part}.jsonl", b"".join(lines))
        return True

    def put_part(self, part: str, rows: list[Row]) -> None:
        """Write a part, unless it is there, and its errors."""
        is_first = jobs.put_part(self.storage, part, rows)
        if not is_first or any(row["error"] is not None for row in rows):
            self.has_part(part)

    def errors(self) -> Iterator[tuple[str, list[Row]]]:
        """The rows that are errors, by part, whether they count or not."""
        names = list(self.storage.names(ERRORS))
        with ThreadPoolExecutor(READERS) as pool:
            for name, data in zip(names, pool.map(self.storage.read, names), strict=True):
                lines = (data or b"").splitlines()
                yield name.removeprefix(ERRORS).removesuffix(".jsonl"), [json.loads(line) for line in lines]

    def plan_ended(self, segments: int) -> None:
        """Note that `start` or `retry` has planned all, and that there were so many segments then."""
        self.storage.put_once(_planned(segments), b"")

    def is_planned(self) -> bool:
        """True unless a planner is at work, or has died."""
        return self.storage.read(_planned(self._read_plan())) is not None

    def is_finished(self) -> bool:
        """True when somebody has found that all parts of the plan are there."""
        return outputs.is_finished(self.storage)

    def finish_if_done(self) -> bool:
        """Write the summary and `_SUCCESS` of a job whose parts are all there, and tell its topic once; True if so."""
        if not self._is_done():
            return False
        if not self.is_finished():
            outputs.finish(self.storage)
            log.info("a bulk job is done", extra={"event": LogEvent.BULK_JOB_DONE, "job": self.url})
        if self.terms.notify is not None:
            self._tell(self.terms.notify)
        return True

    def _tell(self, topic: str) -> None:
        """Publish the summary, or wait until the one that claimed it has; if that died over it, publish it."""
        told, claim = (f"{NOTIFIED}{self._segments_read:06}.{ending}" for ending in ("json", "claim"))
        mine = json.dumps({"by": uuid4().hex}).encode()
        end = time.monotonic() + (0.0 if self.storage.put_once(claim, mine) else self._claim_seconds)
        while self.storage.read(told) is None:
            if time.monotonic() >= end:
                summary = {"job": self.url, **json.loads(self.storage.read(outputs.SUMMARY) or b"{}")}
                sqs.notify(topic, f"Bulk job done: {self.url}", json.dumps(summary, indent=2))
                self.storage.put_once(told, mine)
                return
            time.sleep(CLAIM_POLL_SECONDS)

    def _is_done(self) -> bool:
        if not self.is_planned():
            return False
        missing = len(self._plan - jobs.parts(self.storage))
        return not missing or (self._has_tries and missing <= FEW_CHUNKS and jobs.counts(self.storage).is_done)

    def _read_plan(self) -> int:
        """Read new segments; returns the number of all."""
        for segment in jobs.segments(self.storage, self._segments_read):
            self._segments_read += 1
            self._plan.update(each.part for each in segment)
            self._has_tries = self._has_tries or any(each.chunk.attempt for each in segment)
        return self._segments_read


def _planned(segments: int) -> str:
    return f"{PLANNED}{segments:06}.json"
