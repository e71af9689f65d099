"""Prepared answers: problem documents as whole HTTP responses, made once, so that a refusal costs a single write."""

from __future__ import annotations

from http import HTTPStatus

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from service.api import problems
from service.core.connections.limits import ConnectionLimits
from service.core.errors import (
    DeadlineExceeded,
    DocumentTooLarge,
    GleanerError,
    HeadersTooLarge,
    InternalError,
    MalformedRequest,
    QueueFull,
    TargetTooLong,
    TooMuchAtOnce,
    TooSlow,
)

SECURITY_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
)
"""On every answer that has none of the same name: nothing here is to be kept, framed, or taken for something else."""

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
        self.body_too_large = PreparedProblem(DocumentTooLarge(f"The body is over {limits.body_bytes} bytes."))
        self.too_slow = PreparedProblem(
            TooSlow(
                f"A head must arrive within {limits.head_seconds:g} s, and a body may not pause or trickle "
                f"for longer than {limits.body_seconds:g} s."
            )
        )
        self.too_many_connections = PreparedProblem(
            TooMuchAtOnce(f"{limits.connections} connections are open, the limit of a worker.")
        )
        self.too_many_bytes = PreparedProblem(
            TooMuchAtOnce(
                f"Unfinished bodies hold {limits.held_bytes} bytes, the limit of a worker; this was the largest."
            )
        )
        self.retry_after(1.0)

    def retry_after(self, seconds: float) -> None:
        """Prepare the refusals of overload anew, for clients to come back after this time."""
        full = QueueFull("All is taken on that can be answered in time.", retry_after_seconds=seconds)
        late = DeadlineExceeded("The deadline passed before the work began.", retry_after_seconds=seconds)
        self.overloaded = {error.code: PreparedProblem(error) for error in (full, late)}
