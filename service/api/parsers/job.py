"""A job: one file on its way through the pool, for a caller who waits for what is made of it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from service.api.parsers.connection import Parser
from service.api.parsers.parser_work import ParserWork
from service.core.parsers.queued_file import QueuedFile

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Job(Generic[T]):
    """A file, the work on it, and how far that is.

    Attributes:
        expected_seconds: of parsing, when it came.
        result: what its caller waits for.
        reading: the task that has a parser read it; `parser` is known once there is one.
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
        """Answer its caller, unless he has an answer or has left."""
        if not self.result.done():
            self.result.set_result(made)

    def fail(self, error: Exception) -> None:
        """Answer its caller with an error, unless he has an answer or has left.

        The error comes without its traceback, which holds this job, and so the file, in a circle.
        """
        if not self.result.done():
            self.result.set_exception(error.with_traceback(None))

    def abandon(self) -> None:
        """End the reading, if there is one; its parser is not used again."""
        if self.reading is not None and self.reading is not asyncio.current_task():
            self.reading.cancel()
        self.reading = None
