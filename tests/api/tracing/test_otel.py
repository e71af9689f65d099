from __future__ import annotations

import subprocess
import sys

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from service.api.calls import open_tracing
from service.api.extraction.trace import DocumentTrace, RequestTrace, StageTimer
from service.api.tracing.otel import OtelTracing, chosen_exporter

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def noted(status: int) -> RequestTrace:
    trace, timer = RequestTrace("r-1", 10.0, received_seconds=10.5, ended_seconds=11.5), StageTimer()
    trace.method, trace.route, trace.status = "POST", "/extract", status
    timer.record("tokenize", 10.5, 0.25)
    timer.record("compute", 10.75, 0.25)
    trace.add(DocumentTrace("text", 5, None, 3, 1, 0, "ok", timer, 11.0))
    return trace


def finished(status: int = 200, **headers: str) -> tuple[str, dict[str, ReadableSpan]]:
    """The trace's id, and the spans by name."""
    exporter = InMemorySpanExporter()
    tracing = OtelTracing(exporter, "1.2.3")
    trace_id = tracing.finish(noted(status), headers)
    tracing.stop()
    return trace_id, {span.name: span for span in exporter.get_finished_spans()}


def test_a_request_is_one_span_with_its_stages_below() -> None:
    trace_id, spans = finished()
    root = spans.pop("POST /extract")
    assert set(spans) == {"receive", "tokenize", "batch", "answer"}
    for span in spans.values():
        assert span.parent is not None
        assert span.parent.span_id == root.context.span_id
        assert f"{span.context.trace_id:032x}" == trace_id
    assert root.attributes == {
        "http.request.method": "POST",
        "http.route": "/extract",
        "http.response.status_code": 200,
        "gleaner.request_id": "r-1",
        "gleaner.documents": 1,
    }
    assert root.resource.attributes["service.name"] == "gleaner"


def test_times_are_those_that_the_timers_took() -> None:
    _, spans = finished()
    lengths = {name: (span.end_time or 0) - (span.start_time or 0) for name, span in spans.items()}
    expected = {"POST /extract": 1.5, "receive": 0.5, "tokenize": 0.25, "batch": 0.25, "answer": 0.5}
    assert {name: round(nanoseconds / 1e9, 3) for name, nanoseconds in lengths.items()} == expected


def test_the_callers_trace_goes_on() -> None:
    trace_id, spans = finished(traceparent=CALLER)
    assert trace_id == "0af7651916cd43dd8448eb211c80319c"
    parent = spans["POST /extract"].parent
    assert parent is not None
    assert f"{parent.span_id:016x}" == "b7ad6b7169203331"


def test_a_trace_that_its_caller_does_not_record_is_not_recorded_here() -> None:
    trace_id, spans = finished(traceparent=CALLER[:-1] + "0")
    assert trace_id == "0af7651916cd43dd8448eb211c80319c"
    assert spans == {}


def test_a_failure_of_the_service_is_an_error() -> None:
    _, spans = finished(503)
    assert not spans["POST /extract"].status.is_ok


def test_exporters_are_found_by_opentelemetrys_names() -> None:
    assert type(chosen_exporter("otlp")).__module__.startswith("opentelemetry.exporter.otlp.proto.http")
    with pytest.raises(LookupError, match="nonsense"):
        chosen_exporter("nonsense")


@pytest.mark.parametrize(
    "variables",
    [{}, {"OTEL_TRACES_EXPORTER": "none"}, {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_SDK_DISABLED": "true"}],
)
def test_it_is_off_unless_the_variables_say_otherwise(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert open_tracing("1") is None


def test_an_exporter_that_is_not_there_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "nonsense")
    assert open_tracing("1") is None
    assert [vars(record)["event"] for record in caplog.records] == ["tracing_off"]


def test_while_it_is_off_neither_the_sdk_nor_an_exporter_is_imported() -> None:
    """FastAPI imports the API's interfaces by itself where they are installed."""
    heavy = "('opentelemetry.sdk', 'opentelemetry.exporter', 'service.api.tracing.otel')"
    code = f"import sys, service.api.app; sys.exit(any(name.startswith({heavy}) for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
