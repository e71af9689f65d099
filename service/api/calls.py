"""One call for entities: what /extract and every door ask of a worker, in two steps round the reading of a body.

`let_in` says who a request comes from and whether it may come now (`visit`: one that came over HTTP); `Visit.call`
takes the documents and options that were read and has their answers, or their errors. Deadline, key, limits and metrics
are the same whoever asks.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starlette.requests import Request

from service.api.engine.canary import CanaryRouter
from service.api.engine.routing import refuse_unless_serving
from service.api.extraction.finished import gathered
from service.api.extraction.request import Decoder, ExtractRequest, refuse_if_late
from service.api.extraction.trace import RequestTrace
from service.api.http.access import Access
from service.api.http.arrival import arrived_seconds
from service.api.http.auth import sender_of
from service.api.http.departure import Departure, departure_of
from service.api.http.json_reader import RequestJsonReader
from service.api.http.request_body import Body, BodyLimits
from service.api.http.response import DocumentOutcome, DocumentTasks, start_documents
from service.api.worker import Worker
from service.core.connections.request_head import named_deadline_ms
from service.core.errors import Overloaded
from service.core.tenants import Tenant
from service.wire import ModelStatus

if TYPE_CHECKING:
    from service.api.tracing.otel import OtelTracing


@dataclass(frozen=True, slots=True)
class AppState:
    """What the routes share within one worker process: `request.state.app_state`."""

    worker: Worker
    access: Access
    body_limits: BodyLimits
    deadline_seconds: float
    canary: CanaryRouter
    tracing: OtelTracing | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """The documents of one request and what is wanted of them. `begun_seconds`: when it came, monotonic clock."""

    worker: Worker
    body: Body
    request: ExtractRequest
    begun_seconds: float

    @property
    def revision(self) -> str:
        """The revision that answers."""
        return self.request.model.revision

    def refuse_again(self) -> None:
        """Refuse all documents, before any work is begun, where the engine lately refused such ones.

        Raises:
            QueueFull, DeadlineExceeded: as the engine refused the earlier documents.
        """
        try:
            self.worker.extractor.refuse_all_again(self.body.sources, self.request)
        except Overloaded as error:
            self.worker.metrics.documents.labels(error.code).inc(len(self.body.sources))
            raise

    def start(self) -> DocumentTasks:
        """Start to extract all documents, each in a task of its own."""
        return start_documents(self.worker.extractor, self.worker.metrics, self.body, self.request)

    async def outcomes(self) -> list[DocumentOutcome]:
        """All documents as they ended, in the order in which they were sent; cancelled with the caller.

        Raises:
            QueueFull, DeadlineExceeded: all are refused (`refuse_again`).
        """
        self.refuse_again()
        with self.worker.engine.leases.hold(self.revision):
            return await gathered(self.start())


@dataclass(slots=True)
class Visit:
    """A request that was let in before its body was read.

    Attributes:
        trace: where it is noted, if anywhere.
        departure: its client's, where the server tells it.
        named_seconds: the deadline that its query names, from its arrival.
    """

    state: AppState
    tenant: Tenant
    headers: Mapping[str, str]
    address: str | None
    begun_seconds: float
    trace: RequestTrace | None = None
    departure: Departure | None = None
    named_seconds: float | None = None
    _model: ModelStatus | None = field(default=None, init=False)

    @property
    def sender(self) -> str:
        """Whose files and bodies may share a parser."""
        return sender_of(self.tenant.name, self.address)

    @property
    def reader(self) -> RequestJsonReader:
        """What decodes the JSON of its body; a deadline that the body itself names is not known yet."""
        deadline = self.begun_seconds + (self.named_seconds or self.state.deadline_seconds)
        return RequestJsonReader(self.state.worker.parsers, self.sender, deadline, self.departure)

    def model(self, body: Body) -> ModelStatus:
        """The model that the options of its body lead to, the same whenever it is asked: a candidate may have a share.

        Raises:
            UnknownModel: it is not served.
        """
        if self._model is None:
            served = self.state.worker.engine.status.models
            self._model = self.state.canary.find(served, body.options.model)
        return self._model

    def call(self, body: Body, *, decoder: Decoder | None = None, left_seconds: float | None = None) -> Call:
        """The call that these documents make; what they bring is charged.

        `left_seconds` is the client's own deadline where its protocol has one, counted from the request's arrival;
        `decoder` finds the entities in the place of the options' aggregation.

        Raises:
            UnknownModel: the options name a model that is not served.
        """
        state, options = self.state, body.options
        model = self.model(body)
        named = options.deadline_ms / 1000 if options.deadline_ms else left_seconds
        deadline = self.begun_seconds + (named or state.deadline_seconds)
        state.access.brought(self.tenant, self.headers, body, self.begun_seconds)
        if self.trace is not None:
            self.trace.received_seconds, self.trace.client = time.monotonic(), self.tenant.name
            self.trace.model, self.trace.engine = model.name, state.worker.engine.status.engine
        request = ExtractRequest(
            model,
            options,
            self.tenant.name,
            deadline,
            alone=len(body.sources) == 1,
            quota=self.tenant.quota,
            charge_tokens=self._served,
            sender=self.sender,
            decoder=decoder,
            trace=self.trace,
        )
        return Call(state.worker, body, request, self.begun_seconds)

    def _served(self, tokens: int) -> None:
        self.state.access.served(self.tenant, tokens, time.monotonic())


def visit(request: Request, headers: Mapping[str, str] | None = None) -> Visit:
    """Let an HTTP request in. `headers`: in the place of its own, where the protocol has keys elsewhere.

    Raises:
        GleanerError: as `let_in`.
    """
    scope, sent = request.scope, request.headers if headers is None else headers
    address = request.client.host if request.client else None
    visited = let_in(request.state.app_state, sent, address, arrived_seconds(scope, time.monotonic()))
    named_ms = named_deadline_ms(b"?" + scope["query_string"], b"")
    visited.trace, visited.departure = scope["state"].get("trace"), departure_of(scope)
    visited.named_seconds = named_ms / 1000 if named_ms else None
    return visited


def let_in(state: AppState, headers: Mapping[str, str], address: str | None, begun_seconds: float) -> Visit:
    """Let a request in by its headers.

    Raises:
        Unauthenticated, Forbidden, RateLimited: its key, or too much came with it.
        NotReady, Draining, EngineRestarting: nothing is served now.
        DeadlineExceeded: it waited for too long.
    """
    engine = state.worker.engine
    tenant = state.access.enter(headers, address or "", begun_seconds)
    refuse_unless_serving(engine.status, engine.connected)
    refuse_if_late(begun_seconds + state.deadline_seconds, time.monotonic())
    return Visit(state, tenant, headers, address, begun_seconds)
