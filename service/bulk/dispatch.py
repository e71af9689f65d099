"""Commands of a fleet's job: plan and send chunks, report progress, retry, cancel.

`start` may be called again at any time: it plans what the plan lacks and sends what has no part, also what is still in
the queue, since no one can tell. A chunk that is delivered twice has one part (`core/bulk`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from service.bulk import job as jobs
from service.bulk.fleet_job import CANCELLED, FleetJob
from service.bulk.job import JobCounts, PlannedChunk
from service.bulk.messages import ChunkMessage, UnknownMessage, read_message
from service.bulk.sqs import PEEK_SECONDS, Message, QueueError, SqsQueue, SqsState
from service.bulk.storage import Inputs
from service.core.bulk import Item, NewestRows, row
from service.core.errors import InvalidOptions

RATE_SECONDS = 600.0
"""Seconds whose parts give a job's rate."""
GIVEN_UP = {"code": "given_up", "detail": "Whoever worked on the file ended, or had no answer, too often."}
PLANNING_SECONDS = 3_600
"""Lease of dead letters that are planned again."""


@dataclass(slots=True)
class Sent:
    """Counts of what a call has planned and sent so far."""

    files: int = 0
    chunks: int = 0
    sent: int = 0


Report = Callable[[Sent], None]


def start(job: FleetJob, inputs: Inputs, report: Report = lambda _sent: None) -> Sent:
    """Plan the inputs that the plan lacks, and send all chunks that need their part.

    Raises:
        InvalidOptions: the inputs cannot be listed.
        StorageError: storage or queue fail; called again, it goes on.
    """
    job.storage.delete(CANCELLED)
    planning = jobs.plan(job.storage, job.record.job, inputs.items(), files=job.terms.chunk_files)
    return _send_planned(job, planning, 0, report)


def _send_planned(job: FleetJob, planning: Iterable[object], after: int, report: Report) -> Sent:
    """Send the chunks of the plan's segments from the one after `after`, while it grows by those of `planning`."""
    settled, sent, number = jobs.settled_parts(job.storage), Sent(), after
    queue = SqsQueue(job.terms.queue)

    def send_new() -> None:
        nonlocal number
        for segment in jobs.segments(job.storage, number):
            number += 1
            lacking = [line for line, each in enumerate(segment) if each.part not in settled]
            sent.files += sum(len(each.chunk.items) for each in segment)
            sent.chunks += len(segment)
            sent.sent += queue.send(ChunkMessage(job.url, number, line).encoded() for line in lacking)
            report(sent)

    send_new()
    for _ in planning:
        send_new()
    send_new()  # What another call, made at the same time, has planned in place of this one.
    job.plan_ended(number)
    if number:
        job.finish_if_done()
    return sent


def retry(job: FleetJob, codes: frozenset[str] | None, report: Report = lambda _sent: None) -> Sent:
    """Try again the dead letters, each file as a chunk of its own, and the rows that are errors with these codes.

    Of each key the last row in the plan counts, so the new row takes the place of the error, and a chunk that never got
    its part is not needed any more.

    Args:
        codes: empty: all errors; None: dead letters alone.

    Raises:
        InvalidOptions: the job is cancelled, so workers would drop what is sent.
    """
    if job.is_cancelled():
        raise InvalidOptions(f"The job {job.url} is cancelled; `gleaner bulk start` goes on with it.")
    after = sum(1 for _ in jobs.segments(job.storage))
    with _dead_letters(job, PLANNING_SECONDS) as (queue, letters):
        settled = jobs.settled_parts(job.storage) if letters else set()
        alone = [item for planned, _ in letters if planned.part not in settled for item in planned.chunk.items]
        failed = [item for item, _ in _failed(job, codes)] if codes is not None else []

        def planning() -> Iterator[object]:
            for items, files in ((alone, 1), (failed, job.terms.chunk_files)):
                if items:
                    yield from jobs.plan_again(job.storage, job.record.job, items, files=files)

        sent = _send_planned(job, planning(), after, report)
        for _, message in letters:
            queue.delete(message)
    return sent


def give_up(job: FleetJob) -> int:
    """Give each dead letter of one file an error as its row, so that the job can end; returns their number.

    Dead letters of several files are left: `retry` finds the file at fault.
    """
    with _dead_letters(job, PEEK_SECONDS) as (queue, letters):
        settled, count = jobs.settled_parts(job.storage) if letters else set(), 0
        for planned, message in letters:
            if planned.part in settled:
                queue.delete(message)
            elif len(planned.chunk.items) == 1:
                model = job.record.job.model
                job.put_part(planned.part, [row(planned.chunk.items[0], model=model, error=GIVEN_UP)])
                queue.delete(message)
                count += 1
    job.finish_if_done()
    return count


@contextmanager
def _dead_letters(
    job: FleetJob, lease_seconds: int, state: SqsState | None = None
) -> Iterator[tuple[SqsQueue, list[tuple[PlannedChunk, Message]]]]:
    """The queue of dead letters, and those of this job with their chunks; `state`: the queue's, where it is known."""
    queue = SqsQueue(job.terms.queue)
    dead = queue.dead_letters(state)
    if dead is None:
        yield queue, []
        return
    with dead.peeked(lease_seconds) as messages:
        found = ((_chunk_of(job, message), message) for message in messages)
        yield dead, [(planned, message) for planned, message in found if planned is not None]


def _chunk_of(job: FleetJob, message: Message) -> PlannedChunk | None:
    """The chunk that a message is about, if it is one of this job."""
    try:
        found = read_message(message.body)
    except UnknownMessage:
        return None
    if not isinstance(found, ChunkMessage) or found.job != job.url:
        return None
    return job.chunk(found.segment, found.line)


def _failed(job: FleetJob, codes: frozenset[str] | None) -> Iterator[tuple[Item, str]]:
    """The inputs whose rows count and are errors with these codes, all without any, and their codes."""
    errors = {part: {row["key"]: row["error"]["code"] for row in rows} for part, rows in job.errors()}
    if not errors:
        return
    newest = NewestRows(each.chunk for each in jobs.planned(job.storage))
    number = 0
    for each in jobs.planned(job.storage):
        found = errors.get(each.part, {})
        for at, item in enumerate(each.chunk.items):
            code = found.get(item.key)
            if code is not None and (not codes or code in codes) and newest.counts(item, number + at):
                yield item, code
        number += len(each.chunk.items)


def cancel(job: FleetJob) -> None:
    """Have workers drop the job's messages, until it is started again; parts that are written stay."""
    job.storage.put(CANCELLED, b"{}\n")


@dataclass(frozen=True, slots=True)
class FleetStatus:
    """The progress of a job.

    Attributes:
        is_planned: False while `start` or `retry` plans, or if it did not end.
        errors: rows that are errors, by code.
        dead: chunks that were received too often, and that nothing has answered since.
        files_a_second: of the last ten minutes; None without any.
        waiting: messages in the queue, of all jobs; None where it cannot be asked, for the reason in `problem`.
    """

    counts: JobCounts
    is_planned: bool
    is_cancelled: bool
    errors: Counter[str]
    dead: tuple[PlannedChunk, ...]
    files_a_second: float | None
    waiting: int | None
    problem: str = ""

    @property
    def is_done(self) -> bool:
        """True when all parts are there."""
        return self.is_planned and self.counts.is_done

    @property
    def seconds_left(self) -> float | None:
        """Seconds to the end at the present rate."""
        left = self.counts.files - self.counts.files_done
        return left / self.files_a_second if self.files_a_second else None


def status(job: FleetJob, now_unix_seconds: float) -> FleetStatus:
    """The progress of a job, also when its queue is gone; ends it if all is done and nobody has."""
    counts = jobs.counts(job.storage)
    dead, waiting, problem = dict[str, PlannedChunk](), None, ""
    try:
        state = SqsQueue(job.terms.queue).state()
        with _dead_letters(job, PEEK_SECONDS, state) as (_, letters):
            settled = jobs.settled_parts(job.storage) if letters else set()
            dead = {planned.part: planned for planned, _ in letters if planned.part not in settled}
        waiting = state.waiting
    except QueueError as error:
        problem = error.detail
    is_planned = job.is_planned()
    if is_planned and counts.is_done:
        job.finish_if_done()
    return FleetStatus(
        counts,
        is_planned,
        job.is_cancelled(),
        Counter(code for _, code in _failed(job, None)),
        tuple(dead.values()),
        _rate(job, now_unix_seconds),
        waiting,
        problem,
    )


def _rate(job: FleetJob, now: float) -> float | None:
    written = job.storage.written(jobs.PARTS)
    recent = {jobs.part_of(name): at for name, at in written if now - at < RATE_SECONDS}
    if not recent:
        return None
    files = sum(len(each.chunk.items) for each in jobs.planned(job.storage) if each.part in recent)
    return files / max(now - min(recent.values()), 1.0)
