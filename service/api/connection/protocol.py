"""The HTTP protocol of a connection: uvicorn's own over httptools, with limits, time limits and admission at the head.

    head arrives    counted byte by byte; too long, too many headers, invalid or too slow: a typed refusal, and closed
    head complete   refused, with the body unread and no `100 Continue`, or handed on to the application
    body arrives    its bytes are held from the worker's budget; too slow: a typed refusal, and closed
    answer leaves   what the client does not read is held too; not read for too long: closed

A refusal leaves the connection open where its body is small; otherwise it is closed after the client has, or after a
while. One request at a time: a pipelined one is not begun, and the connection is closed after the answer before it.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import Any

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from service.api.connection.connections import Connections, QueuedStart, unread_bytes
from service.api.connection.refusals import PreparedProblem, RefusedRequest
from service.api.connection.requests import (
    HeadRefused,
    InFlightRequests,
    WriteBackpressure,
    admit_head,
    checked_head,
    feed_without_upgrade,
    is_refused_unread,
    problem_of,
)
from service.api.http.request_scope import DISCONNECT, DisconnectNotice
from service.core.admission.head import AdmittedRequest
from service.core.connections.connection_table import ALL_THAT_COMES, HEAD_LINGER_BYTES, Acceptance, Linger
from service.core.connections.incoming_message import IncomingMessage, MessageTimeout, RequestHead


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
        self._limits = self._shared.limits
        self._problems = self._shared.refusals.problems
        self._place = Acceptance.OPEN
        self._message = IncomingMessage(self._limits)
        self._arrived_seconds = 0.0
        self._received = b""
        self._discarding = False
        self._linger: Linger | None = None
        self._backpressure = WriteBackpressure(self._shared)
        self._admitting: AdmittedRequest | None = None
        self._disconnect = DisconnectNotice()
        self._requests = InFlightRequests(self._shared)

    # The transport's calls

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        now = time.monotonic()
        self._message.wait(now)
        self._file: int = transport.get_extra_info("socket").fileno()
        self._place = self._shared.table.opened(self, now)
        # Where it is encrypted, what is unread says nothing.
        if self._place is Acceptance.OVER_LIMIT and self.scheme == "http" and is_refused_unread(self._file):
            self._answer_and_close(self._problems.too_many_connections)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._disconnect.tell()
        self._shared.table.closed(self)
        self._backpressure.release()

    def data_received(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        if self._linger is not None:
            self._linger.drop(len(data))
            if self._linger.is_exceeded:
                self.transport.abort()
            return
        now = time.monotonic()
        if self._message.is_awaited:
            self._arrived_seconds = now - self._shared.clock.waited_seconds(self._file)
        self._message.receive(len(data), now)
        self._received = data
        self._parse(data)
        self._received = b""
        if self._linger is not None or self.transport.is_closing():
            return
        if self._message.is_too_large:
            self._end_request(self._problems.headers_too_large)
        elif not self._message.in_head:
            self._message.go_on(now)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._backpressure.pause(self, self.transport, time.monotonic())

    def resume_writing(self) -> None:
        super().resume_writing()
        self._backpressure.release()

    # The parser's calls

    def on_message_begin(self) -> None:
        super().on_message_begin()
        state: dict[str, Any] = self.scope["state"]
        state["arrived_seconds"] = self._arrived_seconds
        state[DISCONNECT] = self._disconnect

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        if len(self.url) > self._limits.target_bytes:
            raise HeadRefused(self._problems.target_too_long)

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._message.in_head:
            self._message.trailers += 1  # And dropped: no field of a head may come after the body.
        if len(self.headers) + self._message.trailers >= self._limits.headers:
            raise HeadRefused(self._problems.headers_too_large)
        if self._message.in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if self._linger is not None:
            return
        if self._message.is_too_large and sum(len(n) + len(v) for n, v in self.headers) > self._limits.head_bytes:
            raise HeadRefused(self._problems.headers_too_large)
        self._message.end_head()
        self._shared.table.busy(self)
        if self._is_answering():
            self._end_reading(ALL_THAT_COMES)
            return
        method: bytes = self.parser.get_method()
        head = checked_head(self._problems, self.url, self.parser.get_http_version(), self.headers)
        if method == b"POST" and self._shared.clock.peer_has_ended(self._file):
            self._end_reading(0)  # Its client has ended its side, and no work was begun for it.
            self._shared.count_dropped("left")
            self.transport.close()
            return
        admitted = admit_head(self._shared, head, method, self.url, self._received, self._place, self._arrived_seconds)
        if isinstance(admitted, PreparedProblem):
            self._refuse(admitted, head)
            return
        self._admitting = admitted
        try:
            super().on_headers_complete()
        except BaseException:
            self._requests.give_back(self._current_cycle(), admitted)
            raise
        self._requests.add(self.cycle, admitted)
        if self._place is not Acceptance.OPEN or self._shared.draining():
            self.end_after_answer()

    def on_body(self, body: bytes) -> None:
        self._message.add_body(len(body))
        if self._linger is not None or self._discarding:
            return
        super().on_body(body)
        if self._message.body_bytes > self._limits.small_body_bytes and not self.cycle.response_complete:
            self._requests.hold_body(self, self.cycle, len(body), self._message.body_bytes)

    def on_message_complete(self) -> None:
        if self._linger is not None or self.parser.should_upgrade():
            return
        now = time.monotonic()
        self._message.end_body(now)
        if self._discarding:
            self._discarding = False
            self._shared.table.idle(self, now)
            return
        self._requests.finish_body(self.cycle)
        super().on_message_complete()
        self.flow.resume_reading()  # A long body has paused it; and its client may leave.
        if self.cycle.response_complete:
            self._shared.table.idle(self, now)

    # uvicorn's calls

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._message.in_head:
            now = time.monotonic()
            self._message.wait(now)
            self._shared.table.idle(self, now)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        admitted = self._requests.add(cycle, self._admitting)
        if admitted is None:
            self.run(cycle, app)
        else:
            self._shared.starts.start(QueuedStart(self, cycle, app, admitted))

    # The start limiter's calls

    def run(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Let an application answer a request."""
        task = self.loop.create_task(cycle.run_asgi(app))
        self.tasks.add(task)
        task.add_done_callback(partial(self._ended, cycle))

    def refuse_late(self, cycle: RequestResponseCycle) -> None:
        """Refuse a request whose deadline passed before its work began."""
        self.run(cycle, self._shared.refusals.count_late(cycle.scope))

    def forget(self, cycle: RequestResponseCycle) -> None:
        """Release what is held for a request that has ended."""
        self._requests.release(cycle)

    # The worker's calls

    def enforce_time_limits(self, now: float) -> None:
        """Close the connection, with an answer if it has begun a request, where one of its time limits has passed."""
        if self._backpressure.waits:
            if self._backpressure.is_too_slow(self.transport, now):
                self._drop("unread")
        elif self.transport.is_closing():
            if self.transport.get_write_buffer_size():  # It ends when that is read, so not by itself.
                self._backpressure.pause(self, self.transport, now)
        elif self._linger is not None:
            if self._linger.is_over(now) and not self._is_answering():
                self.transport.abort()
        else:
            self._enforce_message(now)

    def give_up(self, transfer: object) -> None:
        """End this connection because of the bytes that one of its transfers holds."""
        if self._backpressure.holds(transfer):
            self._drop("held_bytes")
        elif not self.transport.is_closing():
            self._end_request(self._problems.too_many_bytes)

    def evict(self) -> bool:
        """Close this connection, unless a request has come that was not read yet, or its body goes on."""
        if self.transport.is_closing() or unread_bytes(self._file):
            return False
        if not self._message.in_head:
            if not self.is_slow(time.monotonic()):
                return False
            self._end_request(self._problems.too_slow)
        elif not self._message.is_first:
            self.transport.close()
        else:
            self._answer_and_close(self._problems.too_many_connections)
        return True

    def is_slow(self, now: float) -> bool:
        """True while the body of its request hardly goes on."""
        return self._linger is None and self._message.is_slow_so_far(now) and not self._awaits_us()

    def end_after_answer(self) -> None:
        """Have the answer that is under way, if there is one, be the connection's last."""
        if self.cycle is not None:
            self.cycle.keep_alive = False

    def _enforce_message(self, now: float) -> None:
        place, answers = self._place is not Acceptance.OPEN, self._is_answering()
        match self._message.overdue(now, is_health_only=place, is_answering=answers, awaits_us=self._awaits_us()):
            case MessageTimeout.SLOW:
                self._end_request(self._problems.too_slow)
            case MessageTimeout.SILENT:
                self._answer_and_close(self._problems.too_many_connections)
            case MessageTimeout.IDLE:
                self._shared.count_dropped("idle")
                self.transport.close()

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _current_cycle(self) -> RequestResponseCycle | None:
        """The cycle of the message that arrives, None before its head is complete."""
        return self.cycle if self.cycle is not None and self.cycle.scope is self.scope else None

    def _awaits_us(self) -> bool:
        """True while it is for us that a body does not go on."""
        return self.flow.read_paused or (self._is_answering() and self.cycle.waiting_for_100_continue)

    def _parse(self, data: bytes) -> None:
        try:
            feed_without_upgrade(self, data)
        except httptools.HttpParserError as error:
            self._end_request(problem_of(error, self._problems))

    def _refuse(self, problem: PreparedProblem, head: RequestHead) -> None:
        """Refuse a request whose head is complete; a small body is read and dropped."""
        small = head.length is not None and head.length <= self._limits.small_body_bytes and not head.expects_continue
        stays = self._place is Acceptance.OPEN and self.parser.should_keep_alive() and not self._shared.draining()
        if small and stays:
            self._discarding = True
            self._write(problem, close=False)
        else:
            self._answer_and_close(problem, linger_bytes=ALL_THAT_COMES)

    def _answer_and_close(self, problem: PreparedProblem, linger_bytes: float = HEAD_LINGER_BYTES) -> None:
        """Answer, unless another answer is under way or was the last one, and close once the client has read it."""
        if self._linger is not None:
            return
        self._end_reading(linger_bytes)
        self._shared.table.busy(self)
        if self._is_answering():
            return
        self._write(problem, close=True)
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        else:
            self.transport.close()

    def _end_reading(self, most_bytes: float) -> None:
        """Drop what comes from now on; an answer that is under way is the connection's last."""
        self._linger = Linger(most_bytes, time.monotonic() + self._limits.linger_seconds)
        self.end_after_answer()

    def _write(self, problem: PreparedProblem, *, close: bool) -> None:
        method = self.parser.get_method().decode()
        head = (self.url.partition(b"?")[0].decode("latin-1"), self.headers) if self.scope else ("", [])
        problem = self._shared.refusals.count(problem, RefusedRequest(method, *head))
        self.transport.write(problem.response(self.server_state.default_headers, close=close))

    def _end_request(self, problem: PreparedProblem) -> None:
        """Refuse the request that arrives; the application that waits for its body sees that the client is gone."""
        cycle = self._current_cycle()
        if not self._message.in_head:
            if self._discarding or (cycle is not None and cycle.response_started):  # There is one answer to a request.
                self._drop("body")
                return
            if cycle is not None:
                cycle.disconnected = cycle.response_complete = True
                cycle.message_event.set()
                self._disconnect.tell()
        self._answer_and_close(problem)

    def _drop(self, reason: str) -> None:
        self._shared.count_dropped(reason)
        self.transport.abort()

    def _ended(self, cycle: RequestResponseCycle, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        self.forget(cycle)
