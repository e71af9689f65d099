"""The edge to OpenTelemetry's SDK (extra `otel`), which reads its own variables: exporter, sampler, resource.

The only file that imports it, and imported only where tracing is on. The rule: attributes are numbers, names of ours
and ids of requests; never a document's text, name or id.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from importlib.metadata import entry_points

from opentelemetry import propagate, trace
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import SpanKind, Status, StatusCode

from service.api.extraction.trace import RequestTrace, spans_of

EXPORTERS = {"otlp": "otlp_proto_http"}
"""Values of OTEL_TRACES_EXPORTER that are not the exporter's own name; of OTLP the extra has the one over HTTP."""
_GROUP = "opentelemetry_traces_exporter"
_NANOSECONDS = 1_000_000_000


class OtelTracing:
    """Spans of one worker's requests. `exporter`: where they go."""

    def __init__(self, exporter: SpanExporter, version: str) -> None:
        resource = Resource.create({"service.version": version})
        if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):
            resource = resource.merge(Resource({SERVICE_NAME: "gleaner"}))
        self._provider = TracerProvider(resource=resource)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("gleaner", version)

    def finish(self, noted: RequestTrace, headers: Mapping[str, str]) -> str:
        """Make the spans of a request that was answered; returns its trace id, in the caller's trace if it has one."""
        offset = time.time_ns() - time.monotonic_ns()

        def nanoseconds(seconds: float) -> int:
            return offset + int(seconds * _NANOSECONDS)

        root = self._tracer.start_span(
            f"{noted.method} {noted.route}",
            propagate.extract(dict(headers)),
            SpanKind.SERVER,
            {
                "http.request.method": noted.method,
                "http.route": noted.route,
                "http.response.status_code": noted.status,
                "gleaner.request_id": noted.id,
                "gleaner.documents": noted.count,
            },
            start_time=nanoseconds(noted.begun_seconds),
        )
        if noted.status >= 500:
            root.set_status(Status(StatusCode.ERROR))
        if root.is_recording():
            below = trace.set_span_in_context(root)
            for each in spans_of(noted):
                number = {} if each.document is None else {"gleaner.document": each.document}
                child = self._tracer.start_span(
                    each.name, below, attributes=number, start_time=nanoseconds(each.begun_seconds)
                )
                child.end(nanoseconds(each.ended_seconds))
        root.end(nanoseconds(noted.ended_seconds))
        return trace.format_trace_id(root.get_span_context().trace_id)

    def stop(self) -> None:
        """Send what has not been sent; blocks."""
        self._provider.shutdown()


def chosen_exporter(name: str) -> SpanExporter:
    """The exporter of this name, as OTEL_TRACES_EXPORTER has it; it reads its own variables.

    Raises:
        LookupError: none of that name is installed.
    """
    found = list(entry_points(group=_GROUP, name=EXPORTERS.get(name, name)))
    if not found:
        raise LookupError(f"no exporter named {name} is installed")
    exporter: SpanExporter = found[0].load()()
    return exporter
