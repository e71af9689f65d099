"""Header validator: refuses a request before its body is read, or says what it was admitted with."""

from __future__ import annotations

import logging
import time

import httptools

from service.api.connection.connections import Connections
from service.api.connection.refusals import PreparedProblem, PreparedProblems
from service.api.connection.socket_timestamps import first_unread
from service.core.admission.head import AdmittedRequest
from service.core.connections.connection_table import Acceptance
from service.core.connections.request_head import Headers, RequestHead, named_deadline_ms, read_head
from service.core.errors import MalformedRequest
from service.logs import LogEvent

ALWAYS_ANSWERED = (b"/livez", b"/readyz", b"/metrics", b"/ping", b"/v2/health/")
"""Asked by those who would replace a service that does not answer, so never refused for load."""
LINE_BYTES = 32
"""Of a request's first line, enough to tell one of these."""

log = logging.getLogger(__name__)


class HeadRefused(Exception):
    """Ends the parsing of a head."""

    def __init__(self, problem: PreparedProblem) -> None:
        super().__init__(problem.code)
        self.problem = problem


def problem_of(error: httptools.HttpParserError, problems: PreparedProblems) -> PreparedProblem:
    """The refusal behind an error of the parser, which wraps what its callbacks raise."""
    cause = error.__context__
    if isinstance(cause, HeadRefused):
        return cause.problem
    if cause is None or isinstance(cause, (httptools.HttpParserError, UnicodeDecodeError)):
        return problems.malformed
    log.error("a request's head failed", exc_info=cause, extra={"event": LogEvent.REQUEST_HEAD_FAILED})
    return problems.failed


class HeaderValidator:
    """Judges the heads of one worker's requests."""

    def __init__(self, shared: Connections) -> None:
        self._limits = shared.limits
        self._overload = shared.overload
        self._problems = shared.refusals.problems

    def read(self, target: bytes, version: str, headers: Headers) -> RequestHead:
        """The head as a value. Whatever uvicorn makes of it afterwards does not fail, since by then it is admitted.

        Raises:
            HeadRefused: it is not valid HTTP.
        """
        if not target.startswith((b"/", b"http://", b"https://")) or not _has_path(target):
            raise HeadRefused(self._problems.malformed)
        try:
            return read_head(version, headers)
        except MalformedRequest as error:
            raise HeadRefused(PreparedProblem(error)) from error

    def judge(
        self, head: RequestHead, method: bytes, target: bytes, received: bytes, place: Acceptance, arrived: float
    ) -> AdmittedRequest | PreparedProblem | None:
        """What a request was admitted with, its refusal, or None for one that is no work.

        Args:
            received: what has come of the message; a JSON body may name its deadline there.
            place: what its connection may do.
            arrived: when its first byte came, in seconds of the monotonic clock.
        """
        if head.length is not None and head.length > self._limits.body_bytes:
            return self._problems.body_too_large
        if place is not Acceptance.OPEN and (method == b"POST" or not target.startswith(ALWAYS_ANSWERED)):
            return self._problems.too_many_connections
        if method != b"POST":
            return None
        named_ms = named_deadline_ms(target, received)
        deadline_seconds = named_ms / 1000 if named_ms else self._limits.deadline_seconds
        admitted = self._overload.admit(head.client, deadline_seconds, arrived, time.monotonic())
        return admitted if isinstance(admitted, AdmittedRequest) else self._problems.overloaded[admitted.code]

    def refuses_unread(self, file: int) -> bool:
        """True if a request has begun to come to this socket that may be refused for load whatever else it says."""
        line = first_unread(file, LINE_BYTES)
        method, _, target = line.partition(b" ")
        return bool(line) and not (method in (b"GET", b"HEAD") and target.startswith(ALWAYS_ANSWERED))


def _has_path(target: bytes) -> bool:
    """True for a target that can be parsed into a path of ASCII."""
    try:
        path = httptools.parse_url(target).path
    except httptools.HttpParserInvalidURLError:
        return False
    return path is not None and path.isascii()
