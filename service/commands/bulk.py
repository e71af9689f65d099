"""`gleaner bulk IN… OUT`: answers for any number of files, one row each, in a folder. Called again, it goes on.

IN is a folder, a file, a glob, or JSON lines of texts (`{"id": …, "text": …}`). OUT gets `parts/*.jsonl`, in which a
row is an input's answer or the error that is its own, `summary.json`, and at the end `_SUCCESS`. However a call ends,
the same call goes on: what is answered stands, new and changed files are added. `gleaner bulk IN… OUT` is short for
`gleaner bulk run IN… OUT`. Exit codes: 0 all answered, 1 some rows are errors, 2 wrong usage, 3 not finished.
`start`, `status`, `retry`, `cancel` and `estimate` are for jobs from S3 to S3, on which a fleet works.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from service.bulk import finish as outputs
from service.bulk import job as jobs
from service.bulk.chunk_worker import IN_FLIGHT, ChunkWorker, InFlight
from service.bulk.inputs import LocalInputs, glob_matches, local_inputs
from service.bulk.job import JobRecord
from service.bulk.run import BulkRun, RunCounts
from service.bulk.storage import FolderStorage, JobStorage
from service.commands.bulk_fleet import ACTIONS as FLEET_ACTIONS
from service.commands.bulk_fleet import OPTIONS, add_actions, add_options, error_codes
from service.commands.bulk_progress import errors_in_words, shown_progress
from service.commands.file_answers import options_of, read_key
from service.core.bulk import BulkJob
from service.core.errors import GleanerError, InvalidOptions
from service.core.types import Priority
from service.terminal import printable, say

if TYPE_CHECKING:
    from service.local_service import LocalService
    from service.remote_service import RemoteService

ACTIONS = ("run", "finish", *FLEET_ACTIONS)
ANSWERED, WITH_ERRORS, NOT_FINISHED, INTERRUPTED = 0, 1, 3, 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions and their arguments."""
    parser.description = __doc__
    actions = parser.add_subparsers(title="actions", metavar="ACTION", dest="action", required=True)
    _add_run(actions.add_parser("run", help="work on this machine, or by a running service, until all is answered"))
    finish = actions.add_parser("finish", help="make Parquet or other files of a job that is done")
    finish.add_argument("output", metavar="OUT")
    _add_outputs(finish)
    finish.set_defaults(run=_finish)
    add_actions(actions)
    assert {*actions.choices} == {*ACTIONS}, "`with_action` must know them"


def with_action(words: list[str]) -> list[str]:
    """Add the action `run` to the words behind `gleaner bulk` if they name none."""
    is_named = not words or words[0] in (*ACTIONS, "-h", "--help")
    return words if is_named else ["run", *words]


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.description = __doc__
    parser.add_argument("inputs", nargs="+", metavar="IN", help="folder, file, glob, or FILE.jsonl with texts")
    parser.add_argument("output", metavar="OUT", help="folder of the job")
    add_options(parser)
    parser.add_argument("--in-flight", type=int, default=IN_FLIGHT, metavar="N", help="files asked for at a time")
    parser.add_argument("--dollars-per-hour", type=float, metavar="X", help="price of the machines, to show the cost")
    parser.add_argument(
        "--retry-errors", metavar="CODES", help="first plan again what failed with these, comma-separated, or `all`"
    )
    parser.add_argument(
        "--follow", action="store_true", help="read also what links and paths of lines lead to elsewhere"
    )
    _add_outputs(parser)
    parser.set_defaults(run=run)


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    tables = f"also {outputs.PARQUET}, and {outputs.ENTITIES} with a row an entity"
    parser.add_argument("--parquet", action="store_true", help=tables)
    parser.add_argument("--lines", action="store_true", help=f"all rows also in one {outputs.LINES}, in order")
    parser.add_argument("--per-file", action="store_true", help=f"each row also as {outputs.FILES}NAME.json")


def run(chosen: argparse.Namespace) -> int:
    """Work on a job; the exit code is in the module's docstring."""
    if chosen.parquet:
        outputs.check_parquet()
    inputs, storage = local_inputs(chosen.inputs, follow=chosen.follow), FolderStorage(Path(chosen.output))
    _check_output(inputs, chosen.output)
    try:
        with storage.alone():
            counts = asyncio.run(_run(chosen, inputs, storage))
            if counts is not None and (counts.later or counts.done < counts.files):
                say(f"{counts.files - counts.done:,} files are not answered yet: {counts.problem} {AGAIN}")
                return NOT_FINISHED
            return _finish(chosen)
    except InvalidOptions:
        raise
    except GleanerError as error:
        say(f"{error} {AGAIN}")
        return NOT_FINISHED
    except (KeyboardInterrupt, asyncio.CancelledError) as end:
        say(f"stopped. {AGAIN}")
        return INTERRUPTED if isinstance(end, KeyboardInterrupt) else NOT_FINISHED


AGAIN = "Call the same command again to go on."


async def _run(chosen: argparse.Namespace, inputs: LocalInputs, storage: JobStorage) -> RunCounts | None:
    """Work until nothing is left; None if there was nothing to do."""
    task = asyncio.current_task()
    assert task is not None, "this is one"
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    options, asked = options_of(chosen, OPTIONS), chosen.model
    record = jobs.read_record(storage)
    if record is not None:
        jobs.check_same(record, asked_model=asked, options=options, inputs=inputs.names)
        again = await asyncio.to_thread(_plan_failed_again, storage, record.job, chosen.retry_errors)
        if not again and await asyncio.to_thread(_is_done, storage, record.job, inputs):
            return None
    with shown_progress(chosen.dollars_per_hour) as progress:
        async with _service(chosen, options, record, progress.say) as service:
            model = record.job.model if record else await service.revision()
            service.pin(model)
            job = jobs.begin(storage, JobRecord(BulkJob(model, options), asked, inputs.names)).job
            in_flight = InFlight(chosen.in_flight)
            worker = ChunkWorker(inputs, lambda name, data: service.extract(Path(name), data), job, in_flight)
            work = BulkRun(storage, job, inputs, worker, in_flight)
            async with progress.of(work.counts):
                return await work.run()


def _plan_failed_again(storage: JobStorage, job: BulkJob, codes: str | None) -> bool:
    if codes is None:
        return False
    return bool(list(jobs.plan_again(storage, job, outputs.failed_items(storage, error_codes(codes)))))


def _is_done(storage: JobStorage, job: BulkJob, inputs: LocalInputs) -> bool:
    """True when every input is answered; plans new inputs."""
    return jobs.counts(storage).is_done and not any(True for _ in jobs.plan(storage, job, inputs.items()))


def _service(
    chosen: argparse.Namespace, options: dict[str, Any], record: JobRecord | None, report: Any
) -> AbstractAsyncContextManager[LocalService | RemoteService]:
    """Make the service to ask; imported here, because the workers' code takes half a second."""
    model = record.job.model if record else chosen.model
    asked = {**options, "priority": Priority.BATCH.value} | ({"model": model} if model else {})
    if chosen.url:
        from service.remote_service import RemoteService

        return RemoteService(chosen.url, asked, read_key(chosen.key_file))
    from service.local_service import UNHURRIED, LocalService

    return LocalService(asked, report, UNHURRIED | ({"models": model} if model else {}))


def _finish(chosen: argparse.Namespace) -> int:
    """Write the summary of a finished job, and the chosen files of its rows."""
    storage = _storage(chosen.output)
    try:
        summary, _ = outputs.finish(storage)
        made = [write(storage) for write in _writers(chosen)]
    except InvalidOptions:
        raise
    except GleanerError as error:
        say(f"{error}")
        return NOT_FINISHED
    failed = summary.errors.total()
    errors = f", {failed:,} errors ({errors_in_words(summary.errors)})" if failed else ""
    print(f"{summary.files:,} files: {summary.answered:,} answered{errors}; by {printable(summary.model)}")
    place = printable(chosen.output.rstrip("/"))
    print("\n".join(f"{place}/{name}" for name in (jobs.PARTS, outputs.SUMMARY, *made)), flush=True)
    return WITH_ERRORS if failed else ANSWERED


def _storage(output: str) -> JobStorage:
    """Open a job's storage by its output: a folder, or a prefix of S3, which imports botocore."""
    if not output.startswith("s3://"):
        return FolderStorage(Path(output))
    from service.bulk.s3 import S3Storage, place_of

    return S3Storage(place_of(output))


def _writers(chosen: argparse.Namespace) -> Iterable[Any]:
    if chosen.lines:
        yield outputs.write_lines
    if chosen.parquet:
        outputs.check_parquet()
        yield from (outputs.write_parquet, outputs.write_entities)
    if chosen.per_file:
        yield outputs.write_files


def _check_output(inputs: LocalInputs, output: str) -> None:
    """Refuse an output whose files would be inputs, also by a glob or a link, or that is no folder for a job."""
    if not output or output.startswith("s3://"):
        raise InvalidOptions(f"The output {output!r} is no folder; for S3 there is `gleaner bulk start S3IN S3OUT`.")
    target = os.path.realpath(output)
    documents = [os.path.join(target, name) for name in outputs.WRITTEN]
    places = {str(place) for at in documents for place in (Path(at), *Path(at).parents)}
    for given in inputs.names:
        name = os.path.realpath(given)
        if name in places or (not os.path.lexists(name) and any(glob_matches(name, at) for at in places)):
            raise InvalidOptions(f"The output {output} would be within the input {given}: choose a folder beside it.")
    if not os.path.lexists(documents[0]) and (others := list(filter(os.path.lexists, documents[1:]))):
        raise InvalidOptions(f"{others[0]} is there and belongs to no job: choose another output.")
