"""Refusals of a worker's connections, which no application sees: prepared once, translated, counted.

A problem document is kept as a whole HTTP response, so that a refusal costs a single write.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Any, NamedTuple

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from service.api import problems
from service.core.admission.head import OVER_LIMIT, SOCKET_LATE
from service.core.connections.connection_table import ConnectionLimits
from service.core.errors import (
    BY_CODE,
    CapacityExceeded,
    GleanerError,
    HeadersTooLarge,
    InternalError,
    MalformedRequest,
    Overloaded,
    TargetTooLong,
    TooSlow,
    is_server_error,
)
from service.documents.limits import body_too_large
from service.logs import LogEvent
from service.metrics.worker import WorkerMetrics
from service.signals.routes import OTHER, OWN_WORK_ROUTES

SECURITY_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
)
"""Headers added where an answer lacks them: nothing may be cached, framed, or sniffed as another type."""

DefaultHeaders = list[tuple[bytes, bytes]]


class PreparedProblem:
    """One error as the bytes of a response, once for connections that stay open and once for those that close.

    `response`: in another protocol's words.
    """

    def __init__(self, error: GleanerError, response: Response | None = None) -> None:
        response = response or problems.response(error)
        self.error = error
        self.code = error.code
        self.status = response.status_code
        self._start = f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}\r\n".encode()
        self._headers = [*response.raw_headers, *SECURITY_HEADERS]
        self._body = bytes(response.body)
        rest = b"".join(b"%s: %s\r\n" % (name, value) for name, value in self._headers)
        self._stay = rest + b"\r\n" + self._body
        self._close = rest + b"connection: close\r\n\r\n" + self._body

    def response(self, default_headers: DefaultHeaders, *, close: bool) -> bytes:
        """The response with the server's own headers, which are few and change each second (`Date`)."""
        own = b"".join([b"%s: %s\r\n" % (name, value) for name, value in default_headers])
        return b"".join((self._start, own, self._close if close else self._stay))

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """The same as an application, for a request that is a task already."""
        await send({"type": "http.response.start", "status": self.status, "headers": self._headers})
        await send({"type": "http.response.body", "body": self._body})


class PreparedProblems:
    """All refusals that a connection gives by itself, with the limits in their words."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.malformed = PreparedProblem(MalformedRequest("This is not valid HTTP/1.1."))
        self.failed = PreparedProblem(InternalError("The service failed over the head of this request."))
        self.target_too_long = PreparedProblem(
            TargetTooLong(f"Path and query may have {limits.target_bytes} bytes; send options in the body.")
        )
        self.headers_too_large = PreparedProblem(
            HeadersTooLarge(f"At most {limits.headers} headers of {limits.head_bytes} bytes together may be sent.")
        )
        self.body_too_large = PreparedProblem(body_too_large(limits.body_bytes))
        self.too_slow = PreparedProblem(
            TooSlow(
                f"A head must arrive within {limits.head_seconds:g} s, and a body may not pause or trickle "
                f"for longer than {limits.body_seconds:g} s."
            )
        )
        self.too_many_connections = PreparedProblem(
            CapacityExceeded(f"{limits.connections} connections are open, the limit of a worker.")
        )
        self.too_many_bytes = PreparedProblem(
            CapacityExceeded(
                f"Unfinished bodies hold {limits.held_bytes} bytes, the limit of a worker; this was the largest."
            )
        )
        self.retry_after(1.0)

    def retry_after(self, seconds: float) -> None:
        """Prepare the refusals of overload anew, for clients to come back after this time."""
        decisions = (replace(each, retry_after_seconds=seconds) for each in (OVER_LIMIT, SOCKET_LATE))
        self.overloaded = {each.code: PreparedProblem(each.error) for each in decisions}


log = logging.getLogger(__name__)


class Translation(NamedTuple):
    """The error format of another protocol's route, with the route's name."""

    route: str
    response: Response


Translate = Callable[[str, str, Sequence[tuple[bytes, bytes]], GleanerError], Translation | None]
"""Translator of an error for a request's method, path and headers; None for a route of ours."""


class RefusedRequest(NamedTuple):
    """The known parts of a refused request; of one whose head was incomplete only the method."""

    method: str
    path: str
    headers: Sequence[tuple[bytes, bytes]]


class Refusals:
    """Refusals that connections send by themselves. `on_overload` is told the code and number of those for overload.

    Attributes:
        problems: the answers, before they are translated.
        translate: says them in another protocol's words.
    """

    def __init__(self, limits: ConnectionLimits, on_overload: Callable[[str, int], None], translate: Translate) -> None:
        self.problems = PreparedProblems(limits)
        self.translate = translate
        self._on_overload = on_overload
        self._counts: Counter[tuple[str, str, int, bool]] = Counter()

    def count(self, problem: PreparedProblem, request: RefusedRequest) -> PreparedProblem:
        """A refusal that was counted, in the words of the protocol that the request speaks."""
        route = request.path if request.path in OWN_WORK_ROUTES else OTHER
        if route == OTHER and request.path:
            found = self.translate(request.method, request.path, request.headers, problem.error)
            if found is not None:
                route, problem = found.route, PreparedProblem(problem.error, found.response)
        may_be_work = route != OTHER or not request.path
        self._counts[problem.code, route, problem.status, may_be_work] += 1
        return problem

    def count_late(self, scope: Mapping[str, Any]) -> PreparedProblem:
        """The counted refusal of a request whose deadline passed before its work began."""
        request = RefusedRequest(scope["method"], scope["path"], list(scope["headers"]))
        problem = self.count(self.problems.overloaded[SOCKET_LATE.code], request)
        scope["state"]["code"] = problem.code
        return problem

    def report(self, metrics: WorkerMetrics) -> None:
        """Write what was refused since the last report: metrics, one line of log, and overload for the fleet."""
        if not self._counts:
            return
        codes: Counter[str] = Counter()
        for (code, route, status, may_be_work), count in self._counts.items():
            codes[code] += count
            metrics.requests.labels(route, str(status)).inc(count)
            if may_be_work and issubclass(BY_CODE[code], Overloaded):
                self._on_overload(code, count)
        self._counts.clear()
        for code, count in codes.items():
            metrics.connections.refused.labels(code).inc(count)
            if is_server_error(code):
                metrics.server_errors.labels(code).inc(count)
        facts = {"event": LogEvent.REQUESTS_REFUSED_UNREAD, "codes": dict(codes)}
        log.warning("requests were refused before they were read", extra=facts)
