"""The HTTP protocol of a connection: uvicorn's own over httptools, with limits, time limits and admission at the head.

    head arrives    counted byte by byte; too long, too many headers, invalid or too slow: a typed refusal, and closed
    head complete   refused, with the body unread and no `100 Continue`, or handed on to the application
    body arrives    its bytes are held from the worker's budget; too slow: a typed refusal, and closed
    answer leaves   what the client does not read is held too; not read for too long: closed

A refusal leaves the connection open where its body is small. Otherwise it is closed after the client has, or after a
while: to close with unread bytes would destroy the answer on its way.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from service.api.connection.admission import Admitted
from service.api.connection.arrival import unread_bytes
from service.api.connection.connections import Acceptance, Connections, Transfer
from service.api.connection.head_gate import HeadGate, HeadRefused
from service.api.connection.limits import SMALL_BODY_BYTES, ConnectionLimits
from service.api.connection.message_size import MessageSize
from service.api.connection.pace import Pace
from service.api.connection.prepared import PreparedProblem, PreparedProblems
from service.api.connection.request_head import RequestHead, named_deadline_ms
from service.api.connection.unread_answer import UnreadAnswer
from service.api.http.departure import DEPARTURE, Departure
from service.logs import LogEvent
from service.signals.routes import OTHER, OWN_WORK_ROUTES

BRIEF_SECONDS = 2.0
"""Time for a connection beyond the limit to say what it wants."""
HEAD_LINGER_BYTES = 1024 * 1024
"""What is read and dropped after a refusal; of a body that was declared, or of several, as much as comes in time."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class HeldRequest:
    """What is held for one request until its application has ended."""

    admitted: Admitted | None
    body: Transfer | None = None


@dataclass(frozen=True, slots=True)
class RequestTurn:
    """A request that waits for its turn, in the order of those that begin."""

    connection: BoundedHttpProtocol
    cycle: RequestResponseCycle
    app: Any
    admitted: Admitted

    def begin(self) -> None:
        """Begin its work, unless its client is gone, or refuse it where its deadline has passed."""
        if self.cycle.disconnected:
            self.connection.forget(self.cycle)
        elif time.monotonic() - self.admitted.arrived_seconds >= self.admitted.deadline_seconds:
            self.connection.refuse_late(self.cycle)
        else:
            self.connection.run(self.cycle, self.app)


class BoundedHttpProtocol(HttpToolsProtocol):
    """One connection. `app_state` holds the worker's `connections`; each request's own state its `arrived_seconds`."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._shared: Connections = app_state["connections"]
        self._limits: ConnectionLimits = self._shared.limits
        self._problems: PreparedProblems = self._shared.problems
        self._gate = HeadGate(self._shared)
        self._place = Acceptance.OPEN
        self._since_seconds = 0.0
        self._arrived_seconds = 0.0
        self._received = b""
        self._size = MessageSize(self._limits)
        self._served = self._discarding = self._closing = False
        self._lingers_bytes = 0.0
        self._body_pace: Pace | None = None
        self._unread_answer = UnreadAnswer(self, self._shared)
        self._admitting: Admitted | None = None
        self._departure = Departure()
        self._requests: dict[RequestResponseCycle, HeldRequest] = {}

    # The transport's calls

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since_seconds = time.monotonic()
        self._file: int = transport.get_extra_info("socket").fileno()
        self._place = self._shared.opened(self, self._since_seconds)
        if self._place is Acceptance.NONE:
            self._answer_and_close(self._problems.too_many_connections)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._departure.tell()
        self._shared.closed(self)
        self._unread_answer.release()

    def data_received(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        if self._closing:
            self._drop_unread(len(data))
            return
        if self._size.in_head and not self._size.head_bytes:
            self._since_seconds = time.monotonic()
            self._arrived_seconds = self._since_seconds - self._shared.clock.waited_seconds(self._file)
        self._size.receive(len(data))
        self._received = data
        self._parse(data)
        self._received = b""
        if self._closing or self.transport.is_closing():
            return
        if self._size.is_too_large:
            refuse = self._answer_and_close if self._size.in_head else self._end_request
            refuse(self._problems.headers_too_large)
        elif not self._size.in_head and self._body_pace is None:
            self._body_pace = Pace(self._limits.body_seconds, time.monotonic())

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread_answer.pause(self.transport, time.monotonic())

    def resume_writing(self) -> None:
        super().resume_writing()
        self._unread_answer.release()

    # The parser's calls

    def on_message_begin(self) -> None:
        super().on_message_begin()
        state: dict[str, Any] = self.scope["state"]
        state["arrived_seconds"] = self._arrived_seconds
        state[DEPARTURE] = self._departure

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        if len(self.url) > self._limits.target_bytes:
            raise HeadRefused(self._problems.target_too_long)

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._size.in_head:
            self._size.trailers += 1  # And dropped: no field of a head may come after the body.
        if len(self.headers) + self._size.trailers >= self._limits.headers:
            raise HeadRefused(self._problems.headers_too_large)
        if self._size.in_head:
            name = name.lower()
            if name == b"expect" and value.lower() == b"100-continue":
                self.expect_100_continue = True
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        if self._closing:
            return
        now = time.monotonic()
        if self._size.is_too_large and sum(len(n) + len(v) for n, v in self.headers) > self._limits.head_bytes:
            raise HeadRefused(self._problems.headers_too_large)
        self._size.end_head()
        self._body_pace = None
        self._shared.busy(self)
        head = self._gate.read(self.url, self.parser.get_http_version(), self.headers, len(self.pipeline))
        if self._shared.clock.peer_has_ended(self._file) and self.parser.get_method() == b"POST":
            self._leave()
            return
        admitted = None if self._is_answering() else self._admit(head, now)
        if isinstance(admitted, PreparedProblem):
            self._refuse(admitted, head)
            return
        self._admitting = admitted
        super().on_headers_complete()
        self._requests.setdefault(self.cycle, HeldRequest(admitted))
        if self._place is not Acceptance.OPEN:
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        self._size.body_bytes += len(body)
        if self._body_pace is not None:
            self._body_pace.moved(len(body))
        if self._closing or self._discarding:
            return
        super().on_body(body)
        if self._size.body_bytes > SMALL_BODY_BYTES and not self.cycle.response_complete:
            self._hold_body(len(body))

    def on_message_complete(self) -> None:
        if self._closing:
            return
        self._size.end_body()
        self._since_seconds = time.monotonic()
        self._served = True
        if self._discarding:
            self._discarding = False
            self._shared.idle(self, self._since_seconds)
            return
        request = self._requests.get(self.cycle)
        if request is not None and request.body is not None:
            self._shared.finish(request.body)
        super().on_message_complete()
        if self.cycle.response_complete:
            self._shared.idle(self, self._since_seconds)

    # uvicorn's calls

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._size.in_head and not self.pipeline:
            self._since_seconds = time.monotonic()
            self._shared.idle(self, self._since_seconds)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        request = self._requests.setdefault(cycle, HeldRequest(self._admitting))
        if request.admitted is None or self._shared.may_begin():
            self.run(cycle, app)
        else:
            self._shared.wait(RequestTurn(self, cycle, app, request.admitted), request.admitted)

    def send_400_response(self, msg: str) -> None:
        self._answer_and_close(self._problems.malformed)

    # The worker's calls

    def run(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Let an application answer a request."""
        task = self.loop.create_task(cycle.run_asgi(app))
        self.tasks.add(task)
        task.add_done_callback(partial(self._ended, cycle))

    def enforce_time_limits(self, now: float) -> None:
        """Close the connection, with an answer if it has begun a request, where one of its time limits has passed."""
        if self._unread_answer.waits:
            if self._unread_answer.is_too_slow(self.transport, now):
                self._drop("unread")
        elif self.transport.is_closing():
            if self.transport.get_write_buffer_size():  # It ends when that is read, so not by itself.
                self._unread_answer.pause(self.transport, now)
        elif self._closing:
            if now - self._since_seconds > self._limits.linger_seconds and not self._is_answering():
                self.transport.abort()
        elif self._size.in_head:
            self._enforce_head(now)
        elif self._body_pace is not None:
            self._enforce_body(self._body_pace, now)

    def refuse_late(self, cycle: RequestResponseCycle) -> None:
        """Refuse a request whose deadline passed before its work began."""
        problem = self._counted(self._problems.overloaded["deadline_exceeded"], cycle.scope)
        cycle.scope["state"]["status"] = problem.status
        self.run(cycle, problem)

    def give_up(self, transfer: object) -> None:
        """End this connection because of the bytes that one of its transfers holds."""
        if self._unread_answer.holds(transfer):
            self._drop("held_bytes")
        else:
            self._end_request(self._problems.too_many_bytes)

    def evict(self) -> bool:
        """Close this connection, unless a request has come that was not read yet, or its body goes on."""
        if self.transport.is_closing() or unread_bytes(self._file):
            return False
        if not self._size.in_head:
            if not self.is_slow(time.monotonic()):
                return False
            self._end_request(self._problems.too_slow)
        elif self._served:
            self.transport.close()
        else:
            self._answer_and_close(self._problems.too_many_connections)
        return True

    def is_slow(self, now: float) -> bool:
        """True while the body of its request hardly goes on."""
        pace = self._body_pace
        return pace is not None and not self._size.in_head and not self._awaits_us() and pace.is_slow_so_far(now)

    def _awaits_us(self) -> bool:
        """True while it is for us that a body does not go on."""
        return self.flow.read_paused or (self._is_answering() and self.cycle.waiting_for_100_continue)

    def _parse(self, data: bytes) -> None:
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:  # No other protocol is spoken here; what follows the head is not HTTP.
            self._closing = True
            if self.cycle is not None:
                self.cycle.keep_alive = False
        except httptools.HttpParserError as error:
            self._answer_and_close(self._problem_of(error.__context__))

    def _problem_of(self, cause: BaseException | None) -> PreparedProblem:
        """The refusal behind an error of the parser, which wraps what its callbacks raise."""
        if isinstance(cause, HeadRefused):
            return cause.problem
        if cause is None or isinstance(cause, (httptools.HttpParserError, UnicodeDecodeError)):
            return self._problems.malformed
        log.error("a request's head failed", exc_info=cause, extra={"event": LogEvent.REQUEST_HEAD_FAILED})
        return self._problems.failed

    def _admit(self, head: RequestHead, now: float) -> Admitted | PreparedProblem | None:
        """What the request was admitted with, its refusal, or None for one that is no work."""
        method: bytes = self.parser.get_method()
        refusal = self._gate.refusal(head, method, self.url, self._place)
        if refusal is not None or method != b"POST":
            return refusal
        deadline_ms = named_deadline_ms(self.url, self._received)
        return self._gate.admit(head.client, deadline_ms, self._arrived_seconds, now)

    def _refuse(self, problem: PreparedProblem, head: RequestHead) -> None:
        small = head.length is not None and head.length <= SMALL_BODY_BYTES and not head.expects_continue
        if not (small and self._place is Acceptance.OPEN and self.parser.should_keep_alive()):
            self._answer_and_close(problem, lingers_bytes=float("inf"))
            return
        self._discarding = True
        problem = self._counted(problem)
        self.transport.write(problem.response(self.server_state.default_headers, close=False))

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _answer_and_close(self, problem: PreparedProblem, lingers_bytes: float = HEAD_LINGER_BYTES) -> None:
        """Answer, unless another answer is under way, and close once the client has read it."""
        self._closing, self._since_seconds = True, time.monotonic()
        self._lingers_bytes = lingers_bytes
        self._shared.busy(self)
        if self._is_answering():
            self.cycle.keep_alive = False
            return
        problem = self._counted(problem)
        self.transport.write(problem.response(self.server_state.default_headers, close=True))
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        else:
            self.transport.close()

    def _end_request(self, problem: PreparedProblem) -> None:
        """Refuse the request whose body arrives; its application sees that the client is gone."""
        if self._is_answering():
            if self.cycle.response_started:
                self._drop("body")
                return
            self.cycle.disconnected = self.cycle.response_complete = True
            self.cycle.message_event.set()
            self._departure.tell()
        self._answer_and_close(problem)

    def _drop_unread(self, count: int) -> None:
        self._lingers_bytes -= count
        if self._lingers_bytes < 0:
            self.transport.abort()

    def _drop(self, reason: str) -> None:
        self._shared.dropped(reason)
        self.transport.abort()

    def _leave(self) -> None:
        """Close the connection of a client that has ended its side with a request that no work was begun for."""
        self._closing = True
        self._shared.dropped("left")
        self.transport.close()

    def _counted(self, problem: PreparedProblem, scope: Any = None) -> PreparedProblem:
        """A refusal that was counted, in the words of the protocol that the request speaks."""
        path = self.url.partition(b"?")[0] if self.scope else b""
        method, target, headers = self.parser.get_method(), path, self.headers if self.scope else []
        if scope is not None:
            method, target, headers = scope["method"].encode(), scope["path"].encode(), scope["headers"]
        named = target.decode("latin-1")
        route = named if named in OWN_WORK_ROUTES else OTHER
        if route == OTHER and target:
            found = self._shared.translate(method.decode(), named, headers, problem.error)
            if found is not None:
                route, problem = found.route, PreparedProblem(problem.error, found.response)
        self._shared.refused(problem.code, route, problem.status)
        return problem

    def _hold_body(self, count: int) -> None:
        request = self._requests[self.cycle]
        if request.body is None:
            request.body, count = Transfer(self), self._size.body_bytes
        self._shared.hold(request.body, count)

    def _ended(self, cycle: RequestResponseCycle, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        self.forget(cycle)

    def forget(self, cycle: RequestResponseCycle) -> None:
        """Release what is held for a request that has ended."""
        request = self._requests.pop(cycle)
        if request.body is not None:
            self._shared.release(request.body)
        if request.admitted is not None:
            state: dict[str, Any] = cycle.scope["state"]
            self._shared.finished(request.admitted, None if cycle.disconnected else state.get("status"))

    def _enforce_head(self, now: float) -> None:
        if self._is_answering():
            return
        begun = self._size.head_bytes > 0
        most = self._limits.head_seconds if begun or not self._served else self._limits.idle_seconds
        if now - self._since_seconds > (most if self._place is Acceptance.OPEN else BRIEF_SECONDS):
            if begun:
                self._answer_and_close(self._problems.too_slow)
            elif self._place is not Acceptance.OPEN:
                self._answer_and_close(self._problems.too_many_connections)
            else:
                self._shared.dropped("idle")
                self.transport.close()

    def _enforce_body(self, pace: Pace, now: float) -> None:
        if self._awaits_us():
            pace.restart(now)
        elif pace.is_too_slow(now):
            self._end_request(self._problems.too_slow)
