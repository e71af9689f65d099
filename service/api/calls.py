"""Authorization and life of one request for entities: what /extract, /redact and every protocol adapter use.

`authorize` checks who sent a request and whether it may be answered now, before its body is read; it returns the
request's `RequestContext`. `RequestContext.call` takes the documents and options that were read, charges them, and
returns a `Call`, which extracts them. Deadlines, keys, limits and metrics are the same for every protocol.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from starlette.requests import Request

from service.api.engine.routing import CanaryRouter, refuse_unless_serving
from service.api.extraction.extractor import Extractor
from service.api.extraction.request import DocumentInput, ExtractRequest, gathered, start_all
from service.api.extraction.trace import RequestTrace, StageTimer
from service.api.http.access import Access
from service.api.http.api_keys import sender_of
from service.api.http.request_body import Body, BodyLimits
from service.api.http.request_scope import DisconnectNotice, disconnect_notice, request_start_time
from service.api.http.response import DocumentOutcome, DocumentTasks
from service.api.problems import Problem
from service.api.schemas import DocumentResult
from service.api.worker import Worker
from service.core.admission.policy import refuse_if_late
from service.core.connections.incoming_message import named_deadline_ms
from service.core.errors import Overloaded
from service.core.tenants import Tenant
from service.core.types import Priority
from service.environment import traces_exporter
from service.families.processor import Decoder
from service.logs import LogEvent
from service.metrics.worker import WorkerMetrics
from service.wire import ModelStatus

if TYPE_CHECKING:
    from service.api.tracing.otel import OtelTracing

log = logging.getLogger(__name__)

WRITING_SECONDS, WRITING_SHARE = 0.03, 0.1
"""Seconds before its deadline by which a request's work ends, at most a share of its time: its answer is then written,
behind others' work on the event loop."""


@dataclass(frozen=True, slots=True)
class AppState:
    """Objects that all routes of one worker process share: `request.state.app_state`."""

    worker: Worker
    access: Access
    body_limits: BodyLimits
    deadline_seconds: float
    canary: CanaryRouter
    tracing: OtelTracing | None = None


@dataclass(frozen=True, slots=True)
class Extracting:
    """The work of /extract and of all adapters on one document: its entities."""

    extractor: Extractor
    metrics: WorkerMetrics

    async def result(self, source: DocumentInput, request: ExtractRequest, timer: StageTimer) -> DocumentResult:
        return await self.extractor.extract(source, request, timer)

    def failed(self, source: DocumentInput, problem: Problem) -> DocumentResult:
        return DocumentResult(source.id, None, [], 0, 0, 0, False, [], problem)

    def count(self, result: DocumentResult) -> None:
        self.metrics.entities.inc(len(result.entities))

    def windows(self, result: DocumentResult) -> int:
        return result.windows


@dataclass(frozen=True, slots=True)
class Call:
    """The documents of one request with its options. `begun_seconds`: its arrival on the monotonic clock."""

    worker: Worker
    body: Body
    request: ExtractRequest
    begun_seconds: float

    @property
    def revision(self) -> str:
        return self.request.model.revision

    def refuse_again(self) -> None:
        """Refuse all documents before any work is done, if the engine refused such documents a moment ago.

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
        work = Extracting(self.worker.extractor, self.worker.metrics)
        return start_all(work, self.body.sources, self.request)

    async def outcomes(self) -> list[DocumentOutcome]:
        """All documents as they ended, in the order in which they were sent; cancelled with the caller.

        Raises:
            QueueFull, DeadlineExceeded: all are refused (`refuse_again`).
        """
        self.refuse_again()
        with self.worker.engine.leases.hold(self.revision):
            return await gathered(self.start())


@dataclass(slots=True)
class RequestContext:
    """A request that was authorized before its body was read.

    Attributes:
        trace: the record of its stages, if one is kept.
        disconnect: tells that its client disconnected, where the server reports that.
        named_seconds: the deadline in its query, in seconds from its arrival; None if there is none.
    """

    state: AppState
    tenant: Tenant
    headers: Mapping[str, str]
    address: str | None
    begun_seconds: float
    trace: RequestTrace | None = None
    disconnect: DisconnectNotice | None = None
    named_seconds: float | None = None
    _model: ModelStatus | None = field(default=None, init=False)

    @property
    def sender(self) -> str:
        """Name of the sender, whose files may share a parser."""
        return sender_of(self.tenant.name, self.address)

    @property
    def deadline_seconds(self) -> float:
        """Its deadline on the monotonic clock, as far as it is known before its body."""
        return self.begun_seconds + (self.named_seconds or self.state.deadline_seconds)

    @property
    def body_limits(self) -> BodyLimits:
        """The limits of its body, whose bytes are charged, and a document where it is not what it should be."""
        limits = self.state.access.body_limits(self.tenant, self.headers, self.state.body_limits)
        return replace(limits, on_bad=self.charge_documents)

    def model(self, body: Body) -> ModelStatus:
        """The model that the options select; chosen once, since a candidate may get a share of the requests.

        Raises:
            UnknownModel: it is not served.
        """
        if self._model is None:
            served = self.state.worker.engine.status.models
            self._model = self.state.canary.find(served, body.options.model)
        return self._model

    def call(self, body: Body, *, decoder: Decoder | None = None, left_seconds: float | None = None) -> Call:
        """Charge the documents to the client and return their call.

        Args:
            decoder: finds the entities in place of the options' aggregation.
            left_seconds: the deadline of the client's protocol, in seconds from the request's arrival.

        Raises:
            UnknownModel: the options name a model that is not served.
            InvalidOptions: the model cannot answer what they ask, or has no use for one.
        """
        state, options = self.state, body.options.for_extraction()
        model = self.model(body)
        task = state.worker.extractor.task(model, options, decoder)
        named = options.deadline_ms / 1000 if options.deadline_ms else left_seconds
        allowed = named or state.deadline_seconds
        allowed -= min(WRITING_SECONDS, WRITING_SHARE * allowed)
        self.charge_documents(len(body.sources))
        if self.trace is not None:
            self.trace.received_seconds = time.monotonic()
            self.trace.model, self.trace.engine = model.name, state.worker.engine.status.engine
            self.trace.is_untimed = options.priority is Priority.BATCH
        request = ExtractRequest(
            model,
            options,
            task,
            self.tenant.name,
            self.begun_seconds + allowed,
            allowed,
            alone=len(body.sources) == 1,
            quota=self.tenant.quota,
            charge_tokens=self._served,
            sender=self.sender,
            trace=self.trace,
        )
        return Call(state.worker, body, request, self.begun_seconds)

    def _served(self, tokens: int) -> None:
        self.state.access.charge(self.tenant, "tokens", tokens, time.monotonic())

    def charge_documents(self, count: int = 1) -> None:
        self.state.access.charge(self.tenant, "documents", count, self.begun_seconds)


def authorize_request(request: Request, headers: Mapping[str, str] | None = None) -> RequestContext:
    """Authorize an HTTP request. `headers` replace its own where a protocol sends its key elsewhere.

    Raises:
        GleanerError: as `authorize`.
    """
    scope, sent = request.scope, request.headers if headers is None else headers
    address = request.client.host if request.client else None
    begun, trace = request_start_time(scope, time.monotonic()), scope["state"].get("trace")
    context = authorize(request.state.app_state, sent, address, begun, trace)
    named_ms = named_deadline_ms(b"?" + scope["query_string"], b"")
    context.trace, context.disconnect = trace, disconnect_notice(scope)
    context.named_seconds = named_ms / 1000 if named_ms else None
    return context


def authorize(
    state: AppState,
    headers: Mapping[str, str],
    address: str | None,
    begun_seconds: float,
    trace: RequestTrace | None,
) -> RequestContext:
    """Authorize a request by its headers; its trace has the client's name as soon as that is known.

    Raises:
        Unauthenticated, Forbidden: no key, or one that is not known.
        RateLimited: the client has used up its rate limit.
        NotReady, Draining, EngineRestarting: no model is served now.
        DeadlineExceeded: the request waited longer than its deadline.
    """
    engine = state.worker.engine
    tenant = state.access.tenant(headers, address or "", begun_seconds)
    if trace is not None:
        trace.client = tenant.name
    state.access.admit(tenant, headers, begun_seconds)
    try:
        refuse_unless_serving(engine.status, engine.connected)
    except Overloaded as error:
        state.worker.metrics.refusals.labels(error.code).inc()
        raise
    refuse_if_late(begun_seconds + state.deadline_seconds, time.monotonic())
    return RequestContext(state, tenant, headers, address, begun_seconds)


def open_tracing(version: str) -> OtelTracing | None:
    """The tracing of a worker; None, and nothing imported, where it is off; if it cannot be had, a line is logged."""
    exporter = traces_exporter()
    if exporter is None:
        return None
    try:
        from service.api.tracing.otel import OtelTracing, chosen_exporter

        return OtelTracing(chosen_exporter(exporter), version)
    except (ImportError, LookupError) as error:
        reason = f"{error}; `pip install -e '.[otel]'` in Gleaner's folder brings OpenTelemetry"
        log.warning("requests are not traced", extra={"event": LogEvent.TRACING_OFF, "reason": reason})
        return None
