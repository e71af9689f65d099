"""Parser pool: reads files in sandboxed processes, when the queue says so.

    a file comes    its cost is guessed; refused by the queue, or it waits there
    its turn comes  it gets an idle parser, which stands still when it has had its share of time
    it is done      its caller has what was made of it, its cost is learnt, its parser goes back to the idle ones

Owns the asyncio side: jobs and timers. `ParserQueue` decides what runs when, `IdleParserPool` in which process.
When a parser dies over a file, the file is read once more, alone (the first may have been killed from outside); a
second death is the file's fault.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any, Generic, TypeVar

from service.api.parsers.frames import FileHeader
from service.api.parsers.parser import DEAD, Parser, ParserWork, cause_of_death
from service.api.parsers.patterns import Match, Patterns
from service.api.parsers.zygote_client import IdleParserPool
from service.core.admission.policy import queue_full, timed_out
from service.core.errors import GleanerError, InternalError, QueueFull, UnreadableDocument
from service.core.parser_queue import STALL_LIMITS, ParserQueue, QueuedFile, Step
from service.core.worker_load import AskedWork, ParseCost
from service.documents.document import Document, PagePicture, PictureRequest
from service.documents.limits import DocumentLimits
from service.documents.redaction.values import RedactedFile, Redaction
from service.logs import LogEvent

log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ParseLimits:
    """Limits of parsing: of one file its content, its seconds and its wait, of all that wait their bytes."""

    document: DocumentLimits
    seconds: float
    queue_bytes: int
    wait_seconds: float = math.inf


@dataclass(slots=True, eq=False)
class Job(Generic[T]):
    """A file on its way through the pool, and the work on it.

    Attributes:
        expected_seconds: expected cost of the work when it came.
        result: what its caller waits for.
        reading: the task that has a parser do the work; `parser` is known once there is one.
        interrupted: True while its parser is to stand still.
    """

    file: QueuedFile
    work: ParserWork[T]
    expected_seconds: float
    result: asyncio.Future[T] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    reading: asyncio.Task[None] | None = None
    parser: Parser | None = None
    interrupted: bool = False

    def finish(self, made: T) -> None:
        """Set the caller's result, unless it is set or cancelled."""
        if not self.result.done():
            self.result.set_result(made)

    def fail(self, error: Exception) -> None:
        """Set the caller's error, unless a result is set or cancelled.

        The error comes without its traceback, which holds this job, and so the file, in a circle.
        """
        if not self.result.done():
            self.result.set_exception(error.with_traceback(None))

    def abandon(self) -> None:
        """End the reading, if there is one; its parser is not used again."""
        if self.reading is not None and self.reading is not asyncio.current_task():
            self.reading.cancel()
        self.reading = None


class ParserPool:
    """Reads files, a given number at the same time.

    Args:
        on_death: is called when a parser died over a file.
        on_refusal: is called with the code of every refusal for want of parsers.

    Attributes:
        asked: the seconds of the files that came.
        document_limits: limits of one file's content.
        size: files that are read at the same time.
    """

    def __init__(
        self,
        size: int,
        limits: ParseLimits,
        idle: IdleParserPool,
        on_death: Callable[[], None],
        on_refusal: Callable[[str], None],
    ) -> None:
        self._limits = limits
        self.document_limits = limits.document
        self.size = size
        self.asked = AskedWork(size)
        self._on_refusal = on_refusal
        self._idle = idle
        self._on_death = on_death
        self._queue = ParserQueue(size, limits.queue_bytes, limits.seconds, limits.wait_seconds)
        self._cost = ParseCost()
        self._jobs: dict[int, Job[Any]] = {}
        self._reading: set[asyncio.Task[None]] = set()
        self._keys = count()
        self._timer: asyncio.TimerHandle | None = None

    async def start(self) -> None:
        """Start what parsers come from, and the first ones, so that the first file does not wait for them."""
        await self._idle.start()

    async def stop(self) -> None:
        """End all parsers."""
        if self._timer is not None:
            self._timer.cancel()
        for task in self._reading:
            if not task.cancelling():  # What an abandoned one does at its end is not to be broken off.
                task.cancel()
        await asyncio.gather(*self._reading, return_exceptions=True)
        await self._idle.stop()

    def seconds_worked(self, now: float) -> float:
        """What the parsers have worked since the start, all together."""
        return self._queue.seconds_worked(now)

    @property
    def wait_seconds(self) -> float:
        """What the parsers are expected to need for the files that were not begun."""
        return self._queue.seconds_waiting

    async def parse(
        self,
        data: bytes,
        header: FileHeader,
        *,
        client: str,
        deadline_seconds: float,
        held: object | None = None,
        on_ran: Callable[[float], None] = lambda _: None,
    ) -> Document:
        """Parse one file of a client as its header says.

        Args:
            held: names the file, of which pages are recognized; made by `holding`.
            on_ran: is called at the end, however it ends, with the seconds that a parser worked on it.

        Raises:
            GleanerError: the error that the reader raised (`service/documents/reader.py`).
            UnreadableDocument: parsing took too long or too much memory, or crashed two parsers.
            QueueFull: too much waits to be read, or the file would wait for too long.
            DeadlineExceeded: the file cannot be read by its deadline, or was not.
        """
        work = ParserWork(header, data, Parser.read_document, held, on_ran)
        return await self._make(work, client, deadline_seconds)

    @contextmanager
    def holding(self) -> Iterator[object]:
        """A name for a file; the parsers that keep it are ended with the context."""
        held = object()
        try:
            yield held
        finally:
            self._idle.release(held)

    async def redact(
        self,
        data: bytes,
        media_type: str | None,
        name: str | None,
        redaction: Redaction,
        *,
        client: str,
        deadline_seconds: float,
    ) -> RedactedFile:
        """Take out of a file what is to go; it waits for a parser, and raises, as one that is parsed.

        Raises:
            UnredactableDocument: it cannot be made sure that nothing is left.
        """
        header = FileHeader(media_type, name, self.document_limits, redaction)
        return await self._make(ParserWork(header, data, Parser.redact_file), client, deadline_seconds)

    async def draw(
        self, data: bytes, page: PictureRequest, *, client: str, deadline_seconds: float, held: object | None = None
    ) -> PagePicture:
        """Draw a page of a client's file; `held` is from `holding`. Raises as `parse` and `pdf/picture`."""
        header = FileHeader(None, None, self.document_limits, picture=page)
        return await self._make(ParserWork(header, data, Parser.draw_page, held), client, deadline_seconds)

    async def find_patterns(
        self, patterns: Patterns, texts: bytes, *, client: str, deadline_seconds: float
    ) -> list[Match]:
        """Have a client's patterns searched for in encoded texts; raises as `parse`, or as `match_frame`."""
        header = FileHeader(None, None, self.document_limits, patterns=patterns)
        return await self._make(ParserWork(header, texts, Parser.find_patterns), client, deadline_seconds)

    async def _make(self, work: ParserWork[T], client: str, deadline_seconds: float) -> T:
        """Have a parser make it, in its turn and in time."""
        job = self._admit(work, client, deadline_seconds)
        self._act()
        try:
            async with asyncio.timeout(deadline_seconds - time.monotonic()):
                return await job.result
        except TimeoutError:
            wait = self._queue.seconds_of_work
            detail = "the deadline passed while the document was read"
            raise timed_out(detail, wait) from None
        finally:
            self._remove(job)
            work.on_ran(job.file.ran_seconds)
            del job  # An error's traceback holds this frame, and the job its error: in a circle, the file would stay.

    def _admit(self, work: ParserWork[T], client: str, deadline_seconds: float) -> Job[T]:
        """Queue a file, or refuse it."""
        now, size_bytes = time.monotonic(), len(work.data)
        expected = self._cost.expected_seconds(work.kind, work.cost_bytes)
        file = QueuedFile(next(self._keys), client, size_bytes, now, deadline_seconds, expected, work.limit_seconds)
        self.asked.ask(expected, now)
        decision = self._queue.decide_on(file, now)
        if decision.refuses:
            self._on_refusal(decision.code)
            raise decision.error
        job = Job(file, work, expected)
        self._jobs[file.key] = job
        self._queue.join(file)
        return job

    def _act(self) -> None:
        """Do what the queue says, and look again when it says so."""
        now = time.monotonic()
        for step, key in self._queue.decide(now):
            self._do(step, self._jobs[key])
        if self._timer is not None:
            self._timer.cancel()
        look = self._queue.next_look(now)
        self._timer = None if look is None else asyncio.get_running_loop().call_later(look - now, self._act)

    def _do(self, step: Step, job: Job[Any]) -> None:
        match step:
            case Step.START:
                job.interrupted = False
                job.reading = task = asyncio.get_running_loop().create_task(self._read(job))
                self._reading.add(task)
                task.add_done_callback(self._reading.discard)
            case Step.INTERRUPT | Step.RESUME:
                job.interrupted = step is Step.INTERRUPT
                if job.parser is not None:
                    self._idle.interrupt(job.parser, job.interrupted)
            case Step.RESTART:
                job.abandon()
            case Step.GIVE_UP:
                wait = self._queue.seconds_of_work
                self._on_refusal(QueueFull.code)
                job.fail(queue_full("Other files need the parsers more.", wait).error)
            case Step.MEASURE:
                if (parser := job.parser) is not None:
                    parser.on_measured = partial(self._measured, job, parser)
                    self._idle.measure(parser)
            case Step.TIME_OUT | Step.STALL:
                error = self._over_limit(step, job.file.limit_seconds)
                self._note_death(job, error.detail)
                job.fail(error)

    def _measured(self, job: Job[Any], parser: Parser, seconds: float) -> None:
        if job.parser is parser:
            self._queue.note_processor_seconds(job.file.key, seconds)
            self._act()

    def _over_limit(self, step: Step, limit: float) -> GleanerError:
        if step is Step.TIME_OUT:
            return UnreadableDocument(f"Reading the file took longer than {limit:g} s.")
        detail = f"the file's parser got less than {limit:g} s of the processor in {STALL_LIMITS * limit:g} s"
        return timed_out(detail, self._queue.seconds_of_work)

    async def _read(self, job: Job[Any]) -> None:
        """Read a job's file in a parser, which is not used again unless all went well."""
        parser: Parser | None = None
        made: object = None
        try:
            parser = job.parser = await self._idle.take(job.file.client, job.work.held)
            if job.interrupted:
                self._idle.interrupt(parser, True)
            made = await job.work.ask(parser, job.work)
        except DEAD as error:
            await self._on_parser_death(job, parser, error)
        except Exception as error:
            if not isinstance(error, GleanerError):
                log.exception("what a parser answered was not understood", extra={"event": LogEvent.PARSER_FAILED})
            self._learn(job)
            job.fail(error if isinstance(error, GleanerError) else InternalError("A parser failed."))
        else:
            self._learn(job)
            job.finish(made)
        finally:
            if parser is not None:
                job.parser = None if job.parser is parser else job.parser
                sound = made is not None and job.work.left_little(made)
                self._idle.put_back(parser, job.file.ran_seconds, sound=sound, stopped=job.interrupted)
        self._act()

    async def _on_parser_death(self, job: Job[Any], parser: Parser | None, error: Exception) -> None:
        """Note a parser's death; its file is read once more, or refused."""
        code = None if parser is None else await parser.exit_code()
        self._note_death(job, cause_of_death(error, code))
        if job.file.alone:
            self._queue.leave(job.file.key, time.monotonic())
            job.fail(UnreadableDocument("The file crashes its parser; it is damaged or hostile."))
        elif not job.result.done():
            self._queue.retry_alone(job.file.key, time.monotonic())

    def _note_death(self, job: Job[Any], reason: str) -> None:
        file = job.file
        whose = {"client": file.client, "bytes": file.size_bytes, "kind": job.work.kind, "second_try": file.alone}
        log.warning("a parser died over a file", extra={"event": LogEvent.PARSER_DIED, "reason": reason, **whose})
        self._on_death()

    def _learn(self, job: Job[Any]) -> None:
        now = time.monotonic()
        seconds = self._queue.leave(job.file.key, now)
        if seconds is not None:
            self._cost.observe(job.work.kind, job.work.cost_bytes, seconds)
            self.asked.correct(job.expected_seconds, seconds, job.file.arrived, now)

    def _remove(self, job: Job[Any]) -> None:
        """Forget a job whose caller has its answer, or does not wait for one any more."""
        del self._jobs[job.file.key]
        job.abandon()
        if self._queue.leave(job.file.key, time.monotonic()) is not None:
            self._act()
