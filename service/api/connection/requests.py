"""Requests of a connection: judged by their heads, held until their applications have ended, answers until read."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from service.api.connection.connections import Connection, Connections, Transfer, first_unread
from service.api.connection.refusals import PreparedProblem, PreparedProblems
from service.core.admission.head import AdmittedRequest
from service.core.connections.connection_table import Acceptance
from service.core.connections.incoming_message import Headers, Pace, RequestHead, named_deadline_ms, read_head
from service.core.errors import MalformedRequest
from service.logs import LogEvent

log = logging.getLogger(__name__)

ALWAYS_ANSWERED = (b"/livez", b"/readyz", b"/metrics", b"/ping", b"/v2/health/")
"""Health routes: their callers would replace a silent service, so they are never refused for load."""
FRAMING_HEADERS = (b"content-length", b"transfer-encoding")
LINE_BYTES = 32
"""Bytes of a request's first line that tell a request for health."""


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


def feed_without_upgrade(protocol: HttpToolsProtocol, data: bytes) -> None:
    """Have a protocol's parser parse this as HTTP, though a head in it offers another protocol (RFC 9110, 7.8).

    httptools takes what follows such a head for the other protocol, and drops it. So a new parser goes on from there:
    it is told how the body is framed, of which the protocol hears nothing, and then the rest.

    Raises:
        httptools.HttpParserError: this is not HTTP, or a callback failed.
    """
    while True:
        try:
            protocol.parser.feed_data(data)
            return
        except httptools.HttpParserUpgrade as offer:
            method, data = protocol.parser.get_method(), data[offer.args[0] :]
        framing = [b"%s: %s\r\n" % each for each in protocol.headers if each[0] in FRAMING_HEADERS]
        data = b"%s / HTTP/1.1\r\n%s\r\n%s" % (method, b"".join(framing), data)
        protocol.parser = httptools.HttpRequestParser(_AfterHead(protocol))
        protocol.parser.set_dangerous_leniencies(lenient_data_after_close=True)


class _AfterHead:
    """The callbacks of a protocol's parser after the first head."""

    def __init__(self, protocol: HttpToolsProtocol) -> None:
        self._protocol = protocol
        self._hears = False
        self.on_body = protocol.on_body
        self.on_message_complete = protocol.on_message_complete

    def on_message_begin(self) -> None:
        if self._hears:
            self._protocol.on_message_begin()

    def on_url(self, url: bytes) -> None:
        if self._hears:
            self._protocol.on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._hears:
            self._protocol.on_header(name, value)

    def on_headers_complete(self) -> None:
        if self._hears:
            self._protocol.on_headers_complete()
        self._hears = True


def checked_head(problems: PreparedProblems, target: bytes, version: str, headers: Headers) -> RequestHead:
    """The head as a value. Whatever uvicorn makes of it afterwards does not fail, since by then it is admitted.

    Raises:
        HeadRefused: it is not valid HTTP.
    """
    if not target.startswith(b"/") and not _is_of_host(target, headers):
        raise HeadRefused(problems.malformed)
    if not _has_path(target):
        raise HeadRefused(problems.malformed)
    try:
        return read_head(version, headers)
    except MalformedRequest as error:
        raise HeadRefused(PreparedProblem(error)) from error


def admit_head(
    shared: Connections,
    head: RequestHead,
    method: bytes,
    target: bytes,
    received: bytes,
    place: Acceptance,
    arrived: float,
) -> AdmittedRequest | PreparedProblem | None:
    """The admission of a request, its refusal, or None for one that is no work.

    Args:
        received: bytes of the message that have come; a JSON body may name its deadline there.
        place: what its connection may do.
        arrived: when its first byte came, in seconds of the monotonic clock.
    """
    problems = shared.refusals.problems
    if head.length is not None and head.length > shared.limits.body_bytes:
        return problems.body_too_large
    if place is not Acceptance.OPEN and (method == b"POST" or not target.startswith(ALWAYS_ANSWERED)):
        return problems.too_many_connections
    if method != b"POST":
        return None
    named_ms = named_deadline_ms(target, received)
    deadline_seconds = named_ms / 1000 if named_ms else shared.limits.deadline_seconds
    admitted = shared.overload.admit(head.client, deadline_seconds, arrived, time.monotonic())
    return admitted if isinstance(admitted, AdmittedRequest) else problems.overloaded[admitted.code]


def is_refused_unread(file: int) -> bool:
    """True if a request has begun to come to this socket that may be refused for load whatever else it says."""
    line = first_unread(file, LINE_BYTES)
    method, _, target = line.partition(b" ")
    return bool(line) and not (method in (b"GET", b"HEAD") and target.startswith(ALWAYS_ANSWERED))


def _is_of_host(target: bytes, headers: Headers) -> bool:
    """True for an absolute target of the Host header's own name (RFC 9112, 3.2.2), by which a request is judged."""
    scheme, _, rest = target.partition(b"://")
    authority = rest.partition(b"/")[0].partition(b"?")[0].lower()
    hosts = [value.strip().lower() for name, value in headers if name.lower() == b"host"]
    return scheme in (b"http", b"https") and hosts == [authority]


def _has_path(target: bytes) -> bool:
    """True for a target that can be parsed into a path of ASCII."""
    try:
        path = httptools.parse_url(target).path
    except httptools.HttpParserInvalidURLError:
        return False
    return path is not None and path.isascii()


@dataclass(slots=True)
class InFlightRequest:
    """The admission and the body of one request in flight."""

    admitted: AdmittedRequest | None
    body: Transfer | None = None


class InFlightRequests:
    """The requests of one connection whose applications have not ended: the next may come when one is answered."""

    __slots__ = ("_requests", "_shared")

    def __init__(self, shared: Connections) -> None:
        self._shared = shared
        self._requests: dict[RequestResponseCycle, InFlightRequest] = {}

    def add(self, cycle: RequestResponseCycle, admitted: AdmittedRequest | None) -> AdmittedRequest | None:
        """Hold a request, unless it is held already; what it was admitted with."""
        return self._requests.setdefault(cycle, InFlightRequest(admitted)).admitted

    def hold_body(self, connection: Connection, cycle: RequestResponseCycle, count: int, whole: int) -> None:
        """Hold `count` more bytes of a body, of which `whole` have come, small ones having been free."""
        request = self._requests[cycle]
        if request.body is None:
            request.body, count = Transfer(connection), whole
        self._shared.hold(request.body, count)

    def finish_body(self, cycle: RequestResponseCycle) -> None:
        """A body is complete; its bytes are held on."""
        request = self._requests.get(cycle)
        if request is not None and request.body is not None:
            self._shared.budget.finish(request.body)

    def give_back(self, cycle: RequestResponseCycle | None, admitted: AdmittedRequest | None) -> None:
        """Release what is held for a request whose work could not begin, its admission too."""
        if cycle is not None and cycle in self._requests:
            self.release(cycle)
        elif admitted is not None:
            self._shared.finished(admitted, "")

    def release(self, cycle: RequestResponseCycle) -> None:
        """Release what is held for a request that has ended."""
        request = self._requests.pop(cycle, None)
        if request is None:  # It was given back.
            return
        if request.body is not None:
            self._shared.budget.release(request.body)
        if request.admitted is not None:
            self._shared.finished(request.admitted, "" if cycle.disconnected else cycle.scope["state"].get("code", ""))


class WriteBackpressure:
    """Bytes in a transport's write buffer, from when they exceed a mark until they fall below another."""

    def __init__(self, shared: Connections) -> None:
        self._shared = shared
        self._transfer: Transfer | None = None
        self._pace: Pace | None = None
        self._unread_bytes = 0

    def holds(self, transfer: object) -> bool:
        """True for the transfer of this answer."""
        return self._transfer is not None and transfer is self._transfer

    def pause(self, connection: Connection, transport: asyncio.WriteTransport, now: float) -> None:
        """Much waits to be read on this connection: hold it."""
        if self._transfer is None:
            self._unread_bytes = transport.get_write_buffer_size()
            self._transfer = Transfer(connection)
            self._pace = Pace(self._shared.limits.write_seconds, now)
            self._shared.hold(self._transfer, self._unread_bytes)

    def release(self) -> None:
        """Most is read, or nobody will."""
        if self._transfer is not None:
            self._shared.budget.release(self._transfer)
            self._transfer = self._pace = None

    @property
    def waits(self) -> bool:
        """True while much waits to be read."""
        return self._pace is not None

    def is_too_slow(self, transport: asyncio.WriteTransport, now: float) -> bool:
        """True when too little was read in the last window."""
        if self._pace is None:
            return False
        unread = transport.get_write_buffer_size()
        self._pace.moved(self._unread_bytes - unread)
        self._unread_bytes = unread
        return self._pace.is_too_slow(now)
