"""`gleaner bulk start|status|estimate|retry|cancel`: jobs from bucket to bucket that a fleet works on.

A service with GLEANER_BULK_QUEUE takes chunks of them from the queue in idle time. Exit codes of `status`: 0 done,
1 some chunks are dead letters, 3 working, or it cannot be told.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from service.commands.bulk_progress import duration, errors_in_words
from service.commands.file_answers import add_service_arguments, options_of, read_key
from service.core.bulk import CHUNK_FILES, BulkJob
from service.core.errors import InvalidOptions
from service.core.types import Priority
from service.terminal import printable, say

if TYPE_CHECKING:
    from service.bulk.dispatch import FleetStatus, Sent
    from service.bulk.fleet_job import FleetJob
    from service.bulk.job import JobRecord
    from service.bulk.s3 import S3Inputs, S3Storage

ACTIONS = ("start", "status", "retry", "cancel", "estimate")
OPTIONS = ("labels", "overlaps", "min_score", "aggregation", "ocr", "include_text", "fields")
"""Options of a job, besides its model."""
DONE, DEAD, WORKING = 0, 1, 3
WATCH_SECONDS = 10.0
SHOWN_DEAD, SHOWN_FILES = 20, 5
"""Most dead letters shown, and files of each."""
TASKS = (1, 4, 16)
"""Numbers of tasks in an estimate."""


def add_actions(actions: Any) -> None:
    """Add the actions and their arguments."""
    start = actions.add_parser("start", help="plan objects of S3 and send them to a fleet; again: what has no answer")
    start.description = __doc__
    start.add_argument("input", metavar="S3IN", help="s3://bucket/prefix/")
    start.add_argument("output", metavar="S3OUT", help="s3://bucket/prefix/ of the job")
    start.add_argument("--queue", metavar="URL", help="of SQS, instead of GLEANER_BULK_QUEUE")
    start.add_argument("--by", metavar="TIME", help="done by then: 06:00, or 2026-12-01T06:00, of this machine's zone")
    start.add_argument("--notify", metavar="ARN", help="topic of SNS that is told when the job is done")
    start.add_argument("--events", action="store_true", help="chunks of one, for new objects: GLEANER_BULK_EVENTS")
    add_options(start)
    start.set_defaults(run=_start)
    status = _add_job(actions, "status", "how far a job is, its errors and its dead letters", _status)
    status.add_argument("--watch", action="store_true", help="again and again, until it is done")
    retry = _add_job(actions, "retry", "try dead letters again, each file alone, and errors by their codes", _retry)
    retry.add_argument("--errors", metavar="CODES", help="codes of rows to try again, comma-separated, or `all`")
    retry.add_argument("--give-up", action="store_true", help="give dead letters of one file an error as their row")
    _add_job(actions, "cancel", "have workers drop a job's chunks; `start` goes on with it", _cancel)
    estimate = actions.add_parser("estimate", help="files, hours and dollars of a job, from a sample of its files")
    estimate.add_argument("input", metavar="S3IN", help="s3://bucket/prefix/")
    estimate.add_argument("--sample", type=int, default=50, metavar="N", help="files to ask for (%(default)s)")
    estimate.add_argument("--dollars-per-hour", type=float, metavar="X", help="price of one task's machine")
    add_options(estimate)
    estimate.set_defaults(run=_estimate)


def _add_job(
    actions: Any, name: str, purpose: str, run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=purpose)
    parser.add_argument("output", metavar="S3OUT")
    parser.set_defaults(run=run)
    return parser


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for the service and for each file's answer."""
    add_service_arguments(parser)
    parser.add_argument("--fields", action="store_true", default=None, help="with the best value for each role")
    parser.add_argument("--include-text", action="store_true", default=None, help="with the documents' text")


def _start(chosen: argparse.Namespace) -> int:
    from service.bulk import dispatch
    from service.bulk.finish import WRITTEN
    from service.bulk.fleet_job import FleetJob
    from service.bulk.s3 import S3Inputs, S3Storage, place_of

    source, target = place_of(chosen.input), place_of(chosen.output)
    if any(source.holds(place_of(f"{target}/{name}")) for name in WRITTEN):
        raise InvalidOptions(f"The output {target} would be within the input {source}: its documents would be inputs.")
    inputs, storage = S3Inputs(chosen.input), S3Storage(target)
    record = _begun(chosen, inputs, storage)
    job = FleetJob(str(target))
    sent = dispatch.start(job, inputs, _report)
    if not sent.files and not chosen.events:
        raise InvalidOptions(_nothing(inputs))
    _say_end(f"{sent.files:,} files in {sent.chunks:,} chunks: {sent.sent:,} sent; by {record.job.model}")
    return DONE


def _begun(chosen: argparse.Namespace, inputs: S3Inputs, storage: S3Storage) -> JobRecord:
    """Read or write the job's record; every later call must agree with the first."""
    from service.api.options import read_options
    from service.bulk import job as jobs
    from service.bulk.job import FleetTerms, JobRecord

    options, record = options_of(chosen, OPTIONS), jobs.read_record(storage)
    if record is not None:
        asked = chosen.model or record.asked_model
        jobs.check_same(record, asked_model=asked, options=options, inputs=inputs.names)
        if record.fleet is None:
            raise InvalidOptions("The output holds a job of one machine.")
        kept_terms = record.fleet
        if chosen.queue not in (None, kept_terms.queue) and _is_gone(kept_terms.queue):
            kept_terms = replace(kept_terms, queue=_queue(chosen))
            record = replace(record, fleet=kept_terms)
            jobs.move(storage, record)
            say(f"the job's queue is gone; {chosen.queue} takes its place")
        if chosen.events and kept_terms.chunk_files != 1:
            say("the job was started without --events and keeps its larger chunks")
        for name, given in {"queue": chosen.queue, "notify": chosen.notify, "by": _deadline(chosen)}.items():
            if given is not None and given != (kept := getattr(kept_terms, name)):
                say(f"the job keeps its --{name}, {_when(kept) if name == 'by' else kept}")
        return record
    read_options(options)  # Not by a worker, when the job has begun.
    terms = FleetTerms(_queue(chosen), _deadline(chosen), chosen.notify, 1 if chosen.events else CHUNK_FILES)
    job = BulkJob(_pinned(chosen, options), options)
    if next(inputs.items(), None) is None and not chosen.events:  # Before the output belongs to a mistyped input.
        raise InvalidOptions(_nothing(inputs))
    return jobs.begin(storage, JobRecord(job, chosen.model, inputs.names, terms))


def _nothing(inputs: S3Inputs) -> str:
    return f"There is no object below {inputs.names[0]}."


def _is_gone(queue: str) -> bool:
    from service.bulk.sqs import QueueMissing, SqsQueue

    try:
        SqsQueue(queue).state()
    except QueueMissing:
        return True
    return False


def _queue(chosen: argparse.Namespace) -> str:
    """Find the URL of a queue, and check that it answers."""
    from service.bulk.sqs import SqsQueue
    from service.settings import read_settings

    url: str = chosen.queue or read_settings().bulk_queue
    if not url:
        raise InvalidOptions("Which queue? --queue URL, or GLEANER_BULK_QUEUE.")
    if SqsQueue(url).state().dead_letters is None:
        say("the queue has no dead letters: a file that kills workers would do so until the queue forgets its chunk")
    return url


def _pinned(chosen: argparse.Namespace, options: dict[str, Any]) -> str:
    """Find the revision for the whole job, `name@sha256:…`: as given, of a service (`--url`), or of the store's tag."""
    from model_store.reference import parse_reference
    from model_store.remote.open import open_remote
    from model_store.remote.tags import read_remote_tag
    from service.settings import read_settings

    settings = read_settings()
    reference = parse_reference(chosen.model or settings.models[0])
    if reference.revision is not None:
        return str(reference)
    if chosen.url:
        return asyncio.run(_served(chosen, options))
    if not settings.model_remote or reference.tag is None:
        raise InvalidOptions("Which revision? --url of a service, GLEANER_MODEL_REMOTE, or --model name@sha256:….")
    tag = read_remote_tag(open_remote(settings.model_remote), reference.name, reference.tag)
    if tag is None:
        raise InvalidOptions(f"There is no model {reference} in {settings.model_remote}.")
    return f"{reference.name}@{tag.revision}"


async def _served(chosen: argparse.Namespace, options: dict[str, Any]) -> str:
    from service.remote_service import RemoteService

    asked = options | ({"model": chosen.model} if chosen.model else {})
    async with RemoteService(chosen.url, asked, read_key(chosen.key_file)) as service:
        return await service.revision()


def _deadline(chosen: argparse.Namespace) -> float | None:
    return None if chosen.by is None else deadline(chosen.by, datetime.now().astimezone())


def deadline(text: str, now: datetime) -> float:
    """Convert `06:00` (the next one) or `2026-12-01T06:00`, in the zone of `now`, to Unix seconds.

    Raises:
        InvalidOptions: the text is neither, or the time is past.
    """
    try:
        found = datetime.fromisoformat(text if "T" in text else f"{now:%Y-%m-%d}T{text}")
    except ValueError:
        raise InvalidOptions(f"--by {text}: write 06:00, or 2026-12-01T06:00.") from None
    found = found if found.tzinfo else found.replace(tzinfo=now.tzinfo)
    if found <= now and "T" not in text:
        found += timedelta(days=1)
    if found <= now:
        raise InvalidOptions(f"--by {text} is past.")
    return found.timestamp()


def _when(unix_seconds: float | None) -> str:
    return "none" if unix_seconds is None else datetime.fromtimestamp(unix_seconds).isoformat(" ", "minutes")


def _status(chosen: argparse.Namespace) -> int:
    from service.bulk import dispatch
    from service.bulk.storage import StorageError

    job = None
    while True:
        try:
            job = job or _job(chosen, keeps_plan=True)
            found = dispatch.status(job, time.time())
        except StorageError as error:  # A watch goes on, since credentials may be renewed.
            say(error.detail)
            if job is None or not chosen.watch:
                return WORKING
        else:
            print("\n".join(_lines(job, found)), flush=True)
            code = DEAD if found.dead else DONE if found.is_done else WORKING
            if not chosen.watch or code != WORKING or found.is_cancelled:
                return code
        time.sleep(WATCH_SECONDS)


def _lines(job: FleetJob, found: FleetStatus) -> list[str]:
    """Write a job's state as lines for a person."""
    counts, by = found.counts, job.terms.by
    state = "done" if found.is_done else "cancelled" if found.is_cancelled else "working"
    failed = found.errors.total()
    errors = f", {failed:,} errors ({errors_in_words(found.errors)})" if failed else ""
    waiting = found.problem if found.waiting is None else f"messages that wait in the queue: {found.waiting:,}"
    lines = [
        f"{job.url}: {state}, by {job.record.job.model}",
        f"  files  {counts.files_done:,} of {counts.files:,}{errors}",
        f"  parts  {counts.chunks_done:,} of {counts.chunks:,}; {waiting}",
    ]
    if not found.is_planned:
        lines.append("  the plan is not complete: `start` is at work, or is to be called again")
    left = found.seconds_left
    if not found.is_done and found.files_a_second is not None and left is not None:
        lines.append(f"  rate   {found.files_a_second:.1f} files/s, {duration(left)} left")
    if by is not None and not found.is_done:
        late = "" if left is None or time.time() + left <= by else ", which is too early at this rate"
        lines.append(f"  due    {_when(by)}{late}")
    for planned in found.dead[:SHOWN_DEAD]:
        keys = [item.key for item in planned.chunk.items]
        more = f" and {len(keys) - SHOWN_FILES:,} more" if len(keys) > SHOWN_FILES else ""
        lines.append(f"  dead   {planned.part}: {', '.join(keys[:SHOWN_FILES])}{more}")
    if found.dead:
        lines.append(
            f"  {len(found.dead):,} dead letters: `gleaner bulk retry {job.url}` tries each of their files alone"
        )
    return [*map(printable, lines)]


def _retry(chosen: argparse.Namespace) -> int:
    from service.bulk import dispatch

    if chosen.give_up:
        print(f"{dispatch.give_up(_job(chosen)):,} files are given up")
        return DONE
    codes = None if chosen.errors is None else error_codes(chosen.errors)
    sent = dispatch.retry(_job(chosen), codes, _report)
    _say_end(f"{sent.files:,} files in {sent.chunks:,} chunks are tried again")
    return DONE


def error_codes(words: str) -> frozenset[str]:
    """Split a list of codes; `all` gives none, which stands for all."""
    return frozenset() if words == "all" else frozenset(map(str.strip, words.split(",")))


def _cancel(chosen: argparse.Namespace) -> int:
    from service.bulk import dispatch

    job = _job(chosen)
    dispatch.cancel(job)
    print(f"{job.url}: workers drop its chunks; `gleaner bulk start` goes on with it")
    return DONE


def _job(chosen: argparse.Namespace, *, keeps_plan: bool = False) -> FleetJob:
    from service.bulk.fleet_job import FleetJob

    return FleetJob(chosen.output, keeps_plan=keeps_plan)


def _estimate(chosen: argparse.Namespace) -> int:
    from service.bulk.estimate import listed, measured
    from service.bulk.s3 import S3Inputs

    if not chosen.url:
        raise InvalidOptions("Which service is to be asked? --url URL.")
    inputs = S3Inputs(chosen.input)
    found = listed(inputs.items(), chosen.sample, random.Random())
    print(f"{found.files:,} files, {found.bytes / 1e6:,.1f} MB", flush=True)
    if not found.sample:
        return DONE
    costs = asyncio.run(_costs(chosen, partial(measured, inputs, found.sample)))
    each = costs.seconds / costs.files
    failed = f", errors: {errors_in_words(costs.errors)}" if costs.errors else ""
    print(
        f"a sample of {costs.files:,}: {costs.pages / costs.files:.1f} pages and {costs.tokens / costs.files:,.0f} "
        f"tokens a file, {costs.scans / costs.files:.0%} with pages to recognize{failed}"
    )
    print(f"{each:.3g} seconds a file of the service that was asked, with what else it had to do")
    for tasks in TASKS:
        hours = found.files * each / tasks / 3600
        price = "" if chosen.dollars_per_hour is None else f", ${hours * tasks * chosen.dollars_per_hour:,.2f}"
        print(f"{tasks:>4} task{'s' if tasks > 1 else ' '}  {duration(hours * 3600)}{price}")
    return DONE


async def _costs(chosen: argparse.Namespace, measure: Callable[..., Any]) -> Any:
    from service.remote_service import RemoteService

    options = options_of(chosen, (*OPTIONS, "model")) | {"priority": Priority.BATCH.value}
    async with RemoteService(chosen.url, options, read_key(chosen.key_file)) as service:
        await service.revision()  # One that cannot be asked is said at once.
        return await measure(lambda name, data: service.extract(Path(name), data))


def _report(sent: Sent) -> None:
    if sys.stderr.isatty():
        from rich.console import Console

        Console(stderr=True).print(f"{sent.files:,} files planned, {sent.sent:,} chunks sent", end="\r")


def _say_end(text: str) -> None:
    if sys.stderr.isatty():
        print(file=sys.stderr)
    print(printable(text), flush=True)
